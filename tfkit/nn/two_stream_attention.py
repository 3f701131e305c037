"""Two-stream attention: the content stream sees the token itself, the query stream only its position (Yang et al.
2019, XLNet, arXiv:1906.08237, 2.3).
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from .attention import merge_heads, scaled_dot_product_attention, split_heads
from .mask_sharing import complement
from .relative_attention import RelativeScores

BLOCK = 256  # queries that are processed together


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
