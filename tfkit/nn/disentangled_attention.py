"""Attention with separate scores for content and for relative position (He et al. 2021, DeBERTa, arXiv:2006.03654)."""

import math
from collections.abc import Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from .. import tracing
from .attention import attend, merge_heads, split_heads
from .dropout import Dropout, dropout
from .mask_sharing import once_per_mask


def disentangled_scores(qc: Tensor, kc: Tensor, qr: Tensor, kr: Tensor, k: int) -> Tensor:
    """Content to content, content to position, position to content (He et al. 2021, equations 2-4).

    qc, kc [B,H,L,D]: of the tokens; qr, kr [H,2k,D]: of the distances; k: the distance from which on all are clipped
    -> [B,H,L,L]: qc_i·kc_j + qc_i·kr[δ(i,j)] + kc_j·qr[δ(j,i)] over sqrt(3D), δ(i,j) = clip(i-j+k, 0, 2k-1)
    """
    batch, heads, length, width = qc.shape
    position = torch.arange(length, device=qc.device)
    delta = (position[:, None] - position + k).clamp(0, 2 * k - 1).expand(batch, heads, -1, -1)  # δ(i,j) [B,H,L,L]
    to_position = (qc @ kr.transpose(-2, -1)).gather(-1, delta)  # [B,H,i,2k] -> [B,H,i,j]
    from_position = (kc @ qr.transpose(-2, -1)).gather(-1, delta)  # [B,H,j,2k] -> [B,H,j,i], at δ(j,i)
    scores = qc @ kc.transpose(-2, -1) + to_position + from_position.transpose(-2, -1)
    return scores / math.sqrt(3 * width)


def distance_windows(
    queries: int, keys: int | None = None, shift: int = 1, block: int = 64, device: torch.device | None = None
) -> Tensor:
    """The distances between the queries of a block and the keys, from the leftmost key on.

    keys: N*T unless given; shift: the number of keys per query
    -> int64 [N,W]: N blocks of T <= `block` queries; query t of block n meets key j in column j + shift*(T-1-t)
    """
    count = -(-queries // block)
    size = -(-queries // count)
    keys = count * size if keys is None else keys
    columns = torch.arange(keys + shift * (size - 1), device=device) - shift * (size - 1)
    return columns - torch.arange(0, shift * count * size, shift * size, device=device)[:, None]


def scores_by_distance(x: Tensor, table: Tensor, shift: int = 1) -> Tensor:
    """x_i · table[j - shift*i], for all i and j, with half the products and memory of computing all distances for each
    i.

    x [B,H,Q,D], table [H,N,W,D]: of the distances in `distance_windows` -> [B,H,N,T,K], a view; N*T >= Q
    """
    batch, heads, queries, width = x.shape
    count, columns = table.shape[1:3]
    size = -(-queries // count)
    x = F.pad(x, (0, 0, 0, count * size - queries)).view(batch, heads, count, size, width)
    x = x.permute(1, 2, 0, 3, 4).reshape(heads, count, batch * size, width)
    scores = x @ table.transpose(-2, -1)  # [H,N,B*T,W]
    first = shift * (size - 1)  # each query's row starts `shift` earlier: a strided view, so nothing is copied
    strides = (size * columns, count * batch * size * columns, batch * size * columns, columns - shift, 1)
    return scores.as_strided((batch, heads, count, size, columns - first), strides, first)


def gather_rows(table: Tensor, rows: Tensor) -> Tensor:
    """table [H,R,D], rows int64 [N,W] -> [H,N,W,D]"""
    return table.index_select(1, rows.flatten()).unflatten(1, rows.shape)


def log_bucket(distance: Tensor, buckets: int, furthest: int) -> Tensor:
    """The near half of the buckets hold one distance each, farther ones more and more (He et al. 2021, DeBERTa V2).

    distance int64 of any shape, buckets int: per side, furthest int: the largest distance -> int64, signed
    """
    middle = buckets // 2
    far = distance.abs().clamp(min=middle) / middle
    far = torch.log(far) / torch.log(far.new_full((), (furthest - 1) / middle)) * (middle - 1)
    return torch.where(distance.abs() <= middle, distance, (far.ceil().long() + middle) * distance.sign())


def in_blocks(scores: Tensor) -> Tensor:
    """[B,H,N,T,N*T] -> [B,H,N,T,N,T]"""
    return scores.unflatten(4, scores.shape[2:4])


class DisentangledAttention(nn.Module):
    """Attention of tokens and of the distances between them (He et al. 2021, 3.1).

    kinds: the scores besides content-to-content: "c2p" content to position, "p2c" position to content. dropout: on the
    weights; drop_distances: on the table of distances. terms: the number of scores that are added, for the scale;
    default 1 + len(kinds). Raises ValueError if the number of heads does not divide the width.
    """

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        kinds: Sequence[str],
        *,
        dropout: float = 0.0,
        drop_distances: float = 0.0,
        terms: int | None = None,
    ) -> None:
        super().__init__()
        if d_model % n_heads:
            raise ValueError(f"n_heads={n_heads} does not divide d_model={d_model}")
        self.n_heads, self.kinds = n_heads, kinds
        self.scale = 1 / math.sqrt(d_model // n_heads * (1 + len(kinds) if terms is None else terms))
        self.dropout, self.drop_distances = dropout, Dropout(drop_distances)
        self.make_projections(d_model)
        self.o_proj = nn.Linear(d_model, d_model)

    def make_projections(self, width: int) -> None:
        """Creates the projections of states and of distances to queries, keys and values."""
        self.qkv_proj = nn.Linear(width, 3 * width, bias=False)
        self.q_bias, self.v_bias = (nn.Parameter(torch.zeros(width)) for _ in range(2))
        self.k_distance = nn.Linear(width, width, bias=False) if "c2p" in self.kinds else None
        self.q_distance = nn.Linear(width, width) if "p2c" in self.kinds else None

    def project_tokens(self, x: Tensor, query_states: Tensor | None) -> Sequence[Tensor]:
        """-> q (of `query_states` if given), k, v [B,H,L,D]; a head's three projections are adjacent in the weight"""
        bias = torch.stack([self.q_bias, torch.zeros_like(self.q_bias), self.v_bias])  # [3,E]
        bias = bias.unflatten(1, (self.n_heads, -1)).transpose(0, 1).flatten()
        q, k, v = split_heads(F.linear(x, self.qkv_proj.weight, bias), self.n_heads).chunk(3, -1)
        if query_states is not None:
            q = split_heads(F.linear(query_states, self.qkv_proj.weight, bias), self.n_heads).chunk(3, -1)[0]
        return q, k, v

    def project_distances(self, table: Tensor) -> tuple[Any, ...]:
        """table [R,E] -> the distances' keys and queries [H,R,D], or None"""
        both: Any = (proj and split_heads(proj(table)[None], self.n_heads)[0] for proj in self.distance_projections())
        return tuple(both)

    def distance_projections(self) -> tuple[nn.Linear | None, nn.Linear | None]:
        """The projections of distances to keys and to queries; None for a kind of score that is not used."""
        return self.k_distance, self.q_distance

    def bias(self, q: Tensor, k: Tensor, table: Tensor, rows: list[Tensor]) -> Tensor:
        """q (scaled), k [B,H,L,D], table [R,E], rows [N,W]: the table rows of each window, as seen from the query and
        from the key -> the scores by distance [B,H,L,L]"""
        kr, qr = self.project_distances(self.drop_distances(table))
        length, found = q.size(2), []
        if "c2p" in self.kinds:
            found.append(in_blocks(scores_by_distance(q, gather_rows(kr, rows[0])).contiguous()))
        if "p2c" in self.kinds:  # seen from the key, the distance to the query is negated
            back = in_blocks(scores_by_distance(k, gather_rows(qr * self.scale, rows[1])))
            found.append(back.permute(0, 1, 4, 5, 2, 3))
        return sum(found[1:], found[0]).flatten(4).flatten(2, 3)[..., :length, :length]

    def combine(self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, bias: Tensor | None) -> Tensor:
        """q scaled -> [B,H,L,D]; as in the published code, a query at padding attends to all positions equally"""
        if bias is None or not bias.requires_grad:  # the fused kernel has no gradient for a bias
            key_mask = None if mask is None else mask[:, None, None]
            if bias is not None and mask is not None:  # this tensor is not shared, so it may be changed in place
                bias, key_mask = bias.masked_fill_(~mask[:, None, None], float("-inf")), None
            out = attend(q, k, v, mask=key_mask, bias=bias, scale=1.0, dropout=self.dropout if self.training else 0.0)
            return out if mask is None else torch.where(mask[:, None, :, None], out, v.mean(2, keepdim=True))
        scores = q @ k.transpose(-2, -1)
        return self.weights(scores.add_(bias), mask) @ v

    def weights(self, scores: Tensor, mask: Tensor | None) -> Tensor:
        """Written into `scores`."""
        if tracing.recorder() is not None:
            tracing.note("scores", scores.clone())
        if mask is not None:
            hidden = once_per_mask(mask, "pairs", lambda: ~(mask[:, None, None] & mask[:, None, :, None]))
            scores = scores.masked_fill_(hidden, torch.finfo(scores.dtype).min)
        weights = scores.softmax(-1)
        tracing.note("weights", weights)
        return dropout(weights, self.dropout, self.training)

    def forward(
        self, x: Tensor, mask: Tensor | None, table: Tensor, rows: list[Tensor], query_states: Tensor | None = None
    ) -> Tensor:
        """x, query_states [B,L,E], mask bool [B,L] or None, table and rows as in `bias` -> [B,L,E]"""
        q, k, v = self.project_tokens(x, query_states)
        q = q * self.scale
        bias = self.bias(q, k, table, rows) if self.kinds else None
        return self.o_proj(merge_heads(self.combine(q, k, v, mask, bias)))


class TalkingHeadsAttention(DisentangledAttention):
    """Heads are mixed before and after the softmax (talking heads, Shazeer et al. 2020, arXiv:2003.02436)."""

    def __init__(self, d_model: int, n_heads: int, kinds: Sequence[str], **how: Any) -> None:
        super().__init__(d_model, n_heads, kinds, **how)
        self.logits_proj, self.weights_proj = (nn.Linear(n_heads, n_heads, bias=False) for _ in range(2))

    def combine(self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, bias: Tensor | None) -> Tensor:
        """As in the parent, but with explicit scores [B,H,L,L]: the fused kernel cannot mix heads."""
        scores = q @ k.transpose(-2, -1)
        scores = torch.einsum("bhqk,gh->bgqk", scores if bias is None else scores + bias, self.logits_proj.weight)
        weights = torch.einsum("bhqk,gh->bgqk", self.weights(scores, mask), self.weights_proj.weight)
        tracing.note("mixed_weights", weights)
        return weights @ v


class DisentangledAttentionV2(DisentangledAttention):
    """Queries, keys and values have a projection each (DeBERTa V2). shared: distances use the same projections."""

    def __init__(self, d_model: int, n_heads: int, kinds: Sequence[str], *, shared: bool = False, **how: Any) -> None:
        self.shared = shared
        super().__init__(d_model, n_heads, kinds, **how)

    def make_projections(self, width: int) -> None:
        """Three layers with biases; with `shared`, none for distances."""
        self.q_proj, self.k_proj, self.v_proj = (nn.Linear(width, width) for _ in range(3))
        own = () if self.shared else self.kinds
        self.k_distance = nn.Linear(width, width) if "c2p" in own else None
        self.q_distance = nn.Linear(width, width) if "p2c" in own else None

    def project_tokens(self, x: Tensor, query_states: Tensor | None) -> Sequence[Tensor]:
        """As in the parent, with separate layers for queries, keys and values."""
        pairs = ((self.q_proj, x if query_states is None else query_states), (self.k_proj, x), (self.v_proj, x))
        return [split_heads(proj(states), self.n_heads) for proj, states in pairs]

    def distance_projections(self) -> tuple[nn.Linear | None, nn.Linear | None]:
        """With `shared`, the projections of the states, even for a kind of score that is not used."""
        return (self.k_proj, self.q_proj) if self.shared else super().distance_projections()
