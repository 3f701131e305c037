"""Large vocabularies with narrower vectors for rare words (Grave et al. 2017, arXiv:1609.04309; Baevski and Auli 2019).

Words are sorted by frequency and cut into clusters at `cutoffs`; each cluster's vectors are `div` times narrower than
those of the previous one.
"""

from collections.abc import Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class AdaptiveEmbedding(nn.Module):
    """One table and one projection per cluster; with div=1 one table for all, projected if it is not d_model wide."""

    def __init__(self, vocab_size: int, d_embed: int, d_model: int, cutoffs: Sequence[int], div: int) -> None:
        super().__init__()
        self.edges, self.div, self.num_embeddings = [0, *cutoffs, vocab_size], div, vocab_size
        sizes = [vocab_size] if div == 1 else [b - a for a, b in zip(self.edges, self.edges[1:], strict=False)]
        widths = [d_embed // div**i for i in range(len(sizes))]
        self.tables = nn.ModuleList(nn.Embedding(n, width) for n, width in zip(sizes, widths, strict=True))
        straight = div == 1 and d_embed == d_model
        self.embed_proj = nn.ModuleList(nn.Linear(w, d_model, bias=False) for w in ([] if straight else widths))
        self.scale = d_model**0.5

    def forward(self, ids: Tensor) -> Tensor:
        """ids [B,L] -> [B,L,E]. Each cluster looks up all ids and keeps its own, so that shapes do not depend on the
        words. Raises IndexError for an id outside the vocabulary."""
        if self.div == 1:
            x = self.tables[0](ids)
            return (self.embed_proj[0](x) if self.embed_proj else x) * self.scale
        last = len(self.tables) - 1
        total: torch.Tensor | float = 0.0
        for i, (table, embed_proj) in enumerate(zip(self.tables, self.embed_proj, strict=True)):
            low, high = self.edges[i : i + 2]
            local_ids = ids - low
            local_ids = local_ids if i == 0 else local_ids.clamp(min=0)  # so a negative id fails in the first table,
            local_ids = (
                local_ids if i == last else local_ids.clamp(max=high - low - 1)
            )  # and one that is too large in the last
            total = total + embed_proj(table(local_ids)) * ((ids >= low) & (ids < high))[..., None]
        return total * self.scale


class AdaptiveSoftmax(nn.Module):
    """log p(word) = log p(cluster) + log p(word | cluster); one softmax covers the first cluster's words and the
    clusters.

    The output matrices are the embedding's tables (tied) or separate ones; likewise the projections, tied one by one.
    """

    def __init__(self, embedding: Any, d_embed: int, tied: bool, tied_projections: Sequence[bool]) -> None:
        super().__init__()
        self.edges, self.div, clusters = embedding.edges, embedding.div, len(embedding.edges) - 2
        self.clusters = nn.Linear(d_embed, clusters) if clusters else None
        shapes = [table.weight.shape for table in embedding.tables]
        self.biases = nn.ParameterList(torch.zeros(shape[0]) for shape in shapes)
        self.weights = nn.ParameterList([] if tied else [torch.empty(shape).normal_(std=0.02) for shape in shapes])
        own = {}
        for i, is_tied in enumerate(tied_projections[: clusters + 1] if embedding.embed_proj else []):
            if not is_tied:
                width = d_embed // self.div**i
                own[str(i)] = nn.Linear(width, embedding.embed_proj[0].out_features, bias=False)
        self.projections = nn.ModuleDict(own)

    def scores(self, i: int, x: Tensor, embedding: Any) -> Tensor:
        """Logits of cluster i: x [N,E] -> [N, its words]; the first cluster's are followed by those of the other
        clusters"""
        if embedding.embed_proj:
            own = str(i) in self.projections
            projection: Any = self.projections[str(i)] if own else embedding.embed_proj[0 if self.div == 1 else i]
            x = x @ projection.weight
        weights = self.weights if len(self.weights) else [table.weight for table in embedding.tables]
        low, high = self.edges[i : i + 2]
        one_table = self.div == 1
        weight = weights[0][low:high] if one_table else weights[i]
        bias = self.biases[0][low:high] if one_table else self.biases[i]
        if i == 0 and self.clusters is not None:
            weight, bias = torch.cat([weight, self.clusters.weight]), torch.cat([bias, self.clusters.bias])
        logits = F.linear(x, weight, bias)
        return logits.to(torch.promote_types(logits.dtype, torch.float32))

    def forward(self, x: Tensor, embedding: Any) -> Tensor:
        """x [...,E] -> log-probabilities [...,V]"""
        first = self.edges[1]
        head = self.scores(0, x, embedding).log_softmax(-1)
        parts = [head[..., :first]]
        for i in range(1, len(self.edges) - 1):
            parts.append(head[..., first + i - 1, None] + self.scores(i, x, embedding).log_softmax(-1))
        return torch.cat(parts, dim=-1)

    def losses(self, x: Tensor, labels: Tensor, embedding: AdaptiveEmbedding) -> Tensor:
        """x [N,E], labels [N] -> -log p [N], 0 where the label is -100. A rare cluster is computed only for positions
        with its words, which saves time and makes shapes depend on the labels."""
        cluster = sum(((labels >= edge).long() for edge in self.edges[1:-1]), torch.zeros_like(labels))
        target = torch.where(cluster == 0, labels, self.edges[1] + cluster - 1)
        total = F.cross_entropy(self.scores(0, x, embedding), target, reduction="none")
        for i in range(1, len(self.edges) - 1):
            rows = (cluster == i).nonzero().squeeze(1)
            inside = labels[rows] - self.edges[i]
            found = F.cross_entropy(self.scores(i, x[rows], embedding), inside, reduction="none")
            total = total.index_add(0, rows, found)
        return total
