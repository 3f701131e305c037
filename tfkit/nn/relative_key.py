"""Attention by content and by learned embeddings of distances (Shaw et al. 2018, arXiv:1803.02155; Huang et al. 2020,
arXiv:2009.13658): relative_key and relative_key_query in BERT's configurations."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from .attention import Projections, attend, merge_heads
from .cache import Cache
from .positions import position_range


class RelativeKeyAttention(Projections):
    """Each distance up to `max_distance` has an embedding; its product with the query is added to the scores, and with
    `use_keys` also its product with the key. causal: positions attend to themselves and earlier ones. Besides the
    projections: distances, nn.Embedding(2 * max_distance - 1, D)."""

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        *,
        max_distance: int,
        use_keys: bool = False,
        dropout: float = 0.0,
        causal: bool = False,
    ) -> None:
        super().__init__(d_model, n_heads, dropout=dropout)
        self.causal, self.use_keys = causal, use_keys
        self.distances = nn.Embedding(2 * max_distance - 1, d_model // n_heads)
        self.distance_scale = (d_model // n_heads) ** -0.5  # of the scores by distance: the same as of those by content

    def distance_scores(self, q: Tensor, k: Tensor, past: int | Tensor) -> Tensor:
        """q [B,H,Q,D] at the positions after `past` others, k [B,H,K,D] -> scaled scores [B,H,Q,K]"""
        middle = self.distances.num_embeddings // 2
        at = position_range(past, q.size(2), q.device)[:, None] - torch.arange(k.size(2), device=q.device)
        if not isinstance(past, int):  # a cache of fixed size may have slots that are never written
            at = at.clamp(-middle, middle)
        vectors = self.distances(at + middle)  # [Q,K,D]
        scores = torch.einsum("bhqd,qkd->bhqk", q, vectors)
        if self.use_keys:
            scores = scores + torch.einsum("bhkd,qkd->bhqk", k, vectors)
        return scores * self.distance_scale

    def forward(self, x: Tensor, *, mask: Tensor | None = None, cache: Cache | None = None) -> Tensor:
        """x [B,L,E], mask bool, broadcastable to [B,H,L,K], or None, cache: `Cache` or None -> [B,L,E]"""
        q, k, v = self.queries_keys_values(x)  # [B,H,L,D]
        causal, dropout = self.causal, self.dropout_now()
        past: int | Tensor = 0
        if cache is not None:
            k, v = cache.extend(self, k, v)
            past = cache.past - x.size(1)  # the cache already contains the keys of x
            mask, causal = cache.apply_mask(mask, causal, x.size(1), x.device)
        bias = self.distance_scores(q, k, past)
        return self.o_proj(merge_heads(attend(q, k, v, mask=mask, bias=bias, causal=causal, dropout=dropout)))
