"""Attention by content and by distance (Dai et al. 2019, arXiv:1901.02860, 3.3), and the same with two streams, one of
which sees the token itself and the other only its position (Yang et al. 2019, XLNet, arXiv:1906.08237, 2.3).

Each query is multiplied with every *distance* once; row i of that table, read from column Q-1-i on, has its scores by
*position*. No copy of the scores is needed: it is the same memory, read with another stride.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from .attention import Projections, attend, merge_heads, scaled_dot_product_attention, split_heads
from .cache import Cache, StaticCache
from .mask_sharing import complement
from .positions import relative_shift

BLOCK = 256  # queries that two streams process together


def relative_scores(q: Tensor, k: Tensor, r: Tensor, u: Tensor, v: Tensor) -> Tensor:
    """The scores of the paper: a content term and a distance term, each a product with the query.

    q [B,H,Q,D], the last Q of the K positions, k [B,H,K,D]; r [H,K,D]: r[:, j] is for distance K-1-j; u and v
    [H,D]: biases shared by all queries -> [B,H,Q,K]; entries in a query's future are undefined
    """
    content_bias = (q + u[:, None]) @ k.transpose(-2, -1)  # [B,H,Q,K]
    position_bias = relative_shift((q + v[:, None]) @ r.transpose(-2, -1))
    return (content_bias + position_bias) / math.sqrt(q.size(-1))


def two_stream_attention(
    h: Tensor, g: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor, content_mask: Tensor, query_mask: Tensor, n_heads: int
) -> tuple[Tensor, Tensor]:
    """One layer's attention for both streams, without positions: they share the weights, the keys and the values.

    h content and g query states [B,L,E], w_q, w_k, w_v [E,E], masks bool [L,L], True = may attend -> (h, g) [B,L,E]
    Both attend to the content stream: h under content_mask, in which each position sees itself, g under query_mask, in
    which it does not. A position that sees no key gets zeros (Yang et al. 2019, 2.3).
    """
    k, v = split_heads(h @ w_k, n_heads), split_heads(h @ w_v, n_heads)  # [B,H,L,D]
    content, _ = scaled_dot_product_attention(split_heads(h @ w_q, n_heads), k, v, content_mask)
    query, _ = scaled_dot_product_attention(split_heads(g @ w_q, n_heads), k, v, query_mask)
    return merge_heads(content), merge_heads(query)


def sinusoidal_distances(distances: Tensor, dim: int, like: Tensor) -> Tensor:
    """Sinusoids of distances, sines before cosines: distances [R] -> [R,dim], with the dtype and device of `like`."""
    wide = torch.promote_types(like.dtype, torch.float32)  # half precision cannot tell angles near 1000 apart
    speed = 10000.0 ** (-torch.arange(0, dim, 2, dtype=wide, device=like.device) / dim)
    angle = distances.to(wide)[:, None] * speed
    return torch.cat([angle.sin(), angle.cos()], dim=-1).to(like.dtype)


def skew(scores: Tensor, batch: int, keys: int) -> Tensor:
    """Scores by distance, from far to near, as scores by position: a view. `relative_shift` is the same with copies.

    scores [H,B*Q,R], contiguous and no view, R > keys -> [B,H,Q,keys]; its element [i,j] is the input's [i, j+Q-1-i].
    Beyond the end of row i that is the start of row i+1, which row i+1 itself never reads, so that
    `causal_relative_bias` may write there.
    """
    heads, rows, reach = scores.shape
    queries = rows // batch
    strides = (queries * reach, rows * reach, reach - 1, 1)
    return scores.as_strided((batch, heads, queries, keys), strides, queries - 1)


def causal_relative_bias(queries: int, keys: int, reach: int, like: Tensor) -> Tensor:
    """The causal mask as a bias for scores by distance: R = keys + 1, where the last column is the future.

    reach: the number of nearest positions that each query sees, itself included -> [Q,R], -inf for hidden ones
    """
    column = torch.arange(keys + 1, device=like.device)
    future = torch.arange(queries - 1, -1, -1, device=like.device)[:, None]  # the wrapped part, see `skew`
    causal_bias = (column < future) | (column >= keys) | (column < keys - reach)
    return like.new_zeros(queries, keys + 1).masked_fill(causal_bias, float("-inf"))


class RelativeScores(Projections):
    """Scores are (q + u)·k by content plus (q + v)·r by distance, where r is a projected sinusoid.

    Besides the projections, without biases: r_proj; content_bias (the paper's u) and position_bias (v), [H,D]. The
    subclasses determine which positions attend to which.
    """

    def __init__(self, d_model: int, n_heads: int, *, d_head: int | None = None, dropout: float = 0.0) -> None:
        super().__init__(d_model, n_heads, d_head=d_head, bias=False, dropout=dropout)
        inner = self.q_proj.out_features
        self.r_proj = nn.Linear(d_model, inner, bias=False)
        self.content_bias, self.position_bias = (nn.Parameter(torch.zeros(n_heads, inner // n_heads)) for _ in range(2))
        self.scale = (inner // n_heads) ** -0.5

    def position_keys(self, position_encodings: Tensor, cache: Cache | None = None, new: int = 1) -> Tensor:
        """position_encodings [R,E], from far to near -> keys of the distances [H,D,R]; a cache keeps those
        for the largest number of distances, a static one those that one token needs: the first call, with `new` tokens,
        has new - 1 more."""
        cached_keys = None if cache is None else cache.constants.get(self)
        if cached_keys is None or cached_keys.size(2) < len(position_encodings):
            cached_keys = (
                self.r_proj(position_encodings).view(len(position_encodings), self.n_heads, -1).permute(1, 2, 0)
            )
            if isinstance(cache, StaticCache) and self not in cache.constants:
                cache.constants[self] = cached_keys[:, :, new - 1 :].contiguous()
            elif cache is not None and not isinstance(cache, StaticCache):
                cache.constants[self] = cached_keys
        return cached_keys[:, :, cached_keys.size(2) - len(position_encodings) :]

    def add_head_bias(self, q: Tensor, bias: Tensor) -> Tensor:
        """q [B,H,Q,D] with the head's bias of [H,D]; the heads of q may be cut into blocks of queries, one by one"""
        return q + bias.repeat_interleave(q.size(1) // self.n_heads, dim=0)[:, None]

    def distance_bias(self, q: Tensor, position_keys: Tensor, keys: int, causal_bias: Tensor | None = None) -> Tensor:
        """q [B,H,Q,D], position_keys [H,D,R], causal_bias [1,B*Q,R] or None -> scaled scores [B,H,Q,keys], a view of
        [H,B*Q,R]"""
        rows = (self.add_head_bias(q, self.position_bias) * self.scale).transpose(0, 1).flatten(1, 2)
        scores = (
            torch.bmm(rows, position_keys) if causal_bias is None else torch.baddbmm(causal_bias, rows, position_keys)
        )
        return skew(scores, len(q), keys)

    def attend_with_bias(self, q: Tensor, k: Tensor, v: Tensor, bias: Tensor, mask: Tensor | None = None) -> Tensor:
        """q [B,H,Q,D], k, v [B,H,K,D], bias [B,H,Q,K], mask bool, broadcastable to it, or None -> [B,Q,E]"""
        q = self.add_head_bias(q, self.content_bias)
        out = attend(q, k, v, mask=mask, bias=bias, scale=self.scale, dropout=self.dropout_now())
        return self.o_proj(merge_heads(out.reshape(len(q), self.n_heads, -1, out.size(-1))))


@dataclass(frozen=True)
class DistanceContext:
    """The context that all layers of a segment share. position_encodings [R,E]: sinusoids of the distances, from far to
    near; causal_bias [1,B*Q,R]: added to the scores by distance, -inf for hidden positions, as from
    `causal_relative_bias`, or None."""

    position_encodings: Tensor
    causal_bias: Tensor | None = None


class RelativeAttention(RelativeScores):
    """Causal attention over a memory and the positions after it (Dai et al. 2019)."""

    def forward(
        self,
        source: Tensor,
        new: int,
        context: DistanceContext,
        *,
        mask: Tensor | None = None,
        cache: Cache | None = None,
    ) -> Tensor:
        """source [B,K,E]: the memory followed by the `new` positions, which are the queries; mask bool [B,1,1,K] or
        None. With a cache, the memory is a single state of zeros, whose key stands in for each of the oldest R - 1 -
        new keys until there are as many real ones -> [B,new,E]"""
        position_encodings = context.position_encodings
        q = split_heads(self.q_proj(source[:, -new:]), self.n_heads)
        k, v = (split_heads(proj(source), self.n_heads) for proj in (self.k_proj, self.v_proj))
        if cache is not None:
            blank, size = (k[:, :, :1], v[:, :, :1]), len(position_encodings) - 1
            k, v = cache.extend(self, k[:, :, -new:], v[:, :, -new:])
            k, v = (latest_keys(part, first, size, cache) for part, first in zip((k, v), blank, strict=True))
        position_keys = self.position_keys(position_encodings, cache, new)
        bias = self.distance_bias(q, position_keys, k.size(2), context.causal_bias)
        return self.attend_with_bias(q, k, v, bias, mask)


def latest_keys(part: Tensor, first: Tensor, size: int, cache: Cache) -> Tensor:
    """The last `size` of the positions that are written: part [B,H,K,D], as `cache.extend` returned it, padded on the
    left with copies of `first` [B,H,1,D] -> [B,H,size,D]"""
    if isinstance(cache, StaticCache):  # where they end is a tensor
        at = torch.arange(size, device=part.device) + (cache.past - size)
        return torch.where(at[:, None] < 0, first, part.index_select(2, at.clamp(min=0)))
    part = part[:, :, -size:]
    lacking = size - part.size(2)
    return torch.cat([first.expand(-1, -1, lacking, -1), part], dim=2) if lacking else part


@dataclass(frozen=True)
class TwoStreamContext:
    """What all layers share.

    position_encodings: sinusoids of the distances [R,E], for each direction of reading; content_mask, query_mask bool
    [B,L,K] or None: what each stream may attend to; same_segment [B,L,K]: 1.0 where two positions are in the same
    segment, or None; target_mapping [B,P,L]: 1.0 at the position of target p; None without a query stream.
    """

    position_encodings: list[Tensor]
    content_mask: Tensor | None = None
    query_mask: Tensor | None = None
    same_segment: Tensor | None = None
    target_mapping: Tensor | None = None


class TwoStreamAttention(RelativeScores):
    """Attention of XLNet's two streams, with scores by content, distance and segment.

    segment_bias [H,D]: added to the queries in the segment score; segment_embed [2,H,D]: the keys of that score, for
    positions of the same segment and of another one.
    """

    def __init__(self, d_model: int, n_heads: int, dropout: float = 0.0) -> None:
        super().__init__(d_model, n_heads, dropout=dropout)
        shape = self.content_bias.shape
        self.segment_bias, self.segment_embed = nn.Parameter(torch.zeros(shape)), nn.Parameter(torch.zeros(2, *shape))

    def forward(
        self,
        h: Tensor,
        g: Tensor | None,
        context: TwoStreamContext,
        memory: Tensor | None = None,
        is_last_layer: bool = False,
    ) -> tuple[Tensor | None, Tensor | None]:
        """h [B,L,E] content states, g [B,P,E] query states or None, memory [B,M,E] or None; is_last_layer: no layer
        follows, so the content stream is not computed where there is a query stream -> [B,L,E] or None, [B,P,E] or
        None"""
        source = h if memory is None else torch.cat([memory, h], dim=1)
        k, v = (split_heads(proj(source), self.n_heads) for proj in (self.k_proj, self.v_proj))
        keys = (
            k,
            v,
            [self.position_keys(position_encodings) for position_encodings in context.position_encodings],
            context.same_segment,
        )
        content = (
            None if is_last_layer and g is not None else self.attend_stream(self.q_proj(h), context.content_mask, *keys)
        )
        target_mapping = context.target_mapping
        if g is None or target_mapping is None:
            return content, None
        queries = target_mapping.transpose(1, 2) @ self.q_proj(g)  # [B,L,E], zeros where nothing is predicted
        return content, target_mapping @ self.attend_stream(queries, context.query_mask, *keys)

    def attend_stream(
        self,
        q: Tensor,
        mask: Tensor | None,
        k: Tensor,
        v: Tensor,
        position_keys: list[Tensor],
        same_segment: Tensor | None,
    ) -> Tensor:
        """Attention of one stream: q [B,L,E], k, v [B,H,K,D] -> [B,L,E]. Queries are cut into blocks, each with only
        the distances that occur in it; all blocks are computed at once, as if they were heads."""
        (batch, length, _), keys = q.shape, k.size(2)
        count = next(n for n in range(max(length // BLOCK, 1), 0, -1) if length % n == 0)
        q = split_heads(q, self.n_heads).reshape(batch, self.n_heads * count, length // count, -1)
        reach = keys + length // count - 1
        position_keys = [
            f.unfold(2, reach, length // count).flip(2).permute(0, 2, 1, 3).flatten(0, 1) for f in position_keys
        ]
        parts = [
            self.distance_bias(rows, f, keys)
            for rows, f in zip(q.chunk(len(position_keys)), position_keys, strict=True)
        ]
        bias = (parts[0] if len(position_keys) == 1 else torch.cat(parts)).unflatten(1, (self.n_heads, count))
        if same_segment is not None:  # softmax ignores what is added to a whole row, so the difference is enough
            segment_query = self.add_head_bias(q, self.segment_bias).unflatten(1, (self.n_heads, count)) * self.scale
            gap = torch.einsum("bhnqd,hd->bhnq", segment_query, self.segment_embed[0] - self.segment_embed[1])
            bias = torch.addcmul(bias, gap[..., None], same_segment.unflatten(1, (count, -1))[:, None])
        if mask is not None:
            fill = (
                bias.masked_fill if same_segment is None else bias.masked_fill_
            )  # the sum is not shared, so it may be changed in place
            bias = fill(complement(mask).unflatten(1, (count, -1))[:, None], float("-inf"))
        k, v = (x if count == 1 else x.repeat_interleave(count, dim=1) for x in (k, v))
        return self.attend_with_bias(q, k, v, bias.flatten(1, 2))
