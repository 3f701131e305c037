"""Attention of two streams: one knows the word it stands for, one only that word's place (Yang et al. 2019, 2.3)."""

import torch
from torch import nn

from .attention import merge_heads, scaled_dot_product_attention, split_heads
from .relative_attention import RelativeAttention

BLOCK = 256  # queries that are looked at together


def two_stream_attention(h, g, w_q, w_k, w_v, content_mask, query_mask, n_heads):
    """One layer's attention of both streams, without positions: one set of weights, one set of keys and values.

    h content and g query states [B,L,E], w_q, w_k, w_v [E,E], masks bool [L,L], True = may attend -> (h, g) [B,L,E]
    Both read the content stream: h under content_mask, which shows each position its own word, g under query_mask,
    which does not. A position that may see nothing gets zeros (Yang et al. 2019, 2.3).
    """
    k, v = split_heads(h @ w_k, n_heads), split_heads(h @ w_v, n_heads)  # [B,H,L,D]
    content, _ = scaled_dot_product_attention(split_heads(h @ w_q, n_heads), k, v, content_mask)
    query, _ = scaled_dot_product_attention(split_heads(g @ w_q, n_heads), k, v, query_mask)
    return merge_heads(content), merge_heads(query)


class TwoStreamAttention(RelativeAttention):
    """segment_bias [H,D], segments [2,H,D] (the same, another): what a query asks of its segment, and the answers."""

    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__(d_model, n_heads, dropout=dropout)
        shape = self.content_bias.shape
        self.segment_bias, self.segment_embed = nn.Parameter(torch.zeros(shape)), nn.Parameter(torch.zeros(2, *shape))

    def forward(self, h, g, memory, position_encodings, visible, same_segment, target_mapping, is_last_layer):  # type: ignore[override]
        """h [B,L,E]; g [B,P,E], target_mapping [B,P,L]: which place each of g is at, or None; memory [B,M,E] or None;
        waves: [R,E] per direction; visible: per stream bool [B,L,K] or None; same_segment [B,L,K], 1 in one segment;
        is_last_layer: where there is a second stream, nobody reads on in the first -> [B,L,E], [B,P,E]"""
        source = h if memory is None else torch.cat([memory, h], dim=1)
        k, v = (split_heads(proj(source), self.n_heads) for proj in (self.k_proj, self.v_proj))
        keys = k, v, [self.position_keys(each) for each in position_encodings], same_segment
        attended = None if is_last_layer and g is not None else self.attend_stream(self.q_proj(h), visible[0], *keys)
        if g is None:
            return attended, None
        return attended, target_mapping @ self.attend_stream(
            target_mapping.transpose(1, 2) @ self.q_proj(g), visible[1], *keys
        )

    def attend_stream(self, q, visible, k, v, position_keys, same_segment):
        """Queries go in blocks: each meets only the distances that it has. All blocks at once, as if they were heads"""
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
        if same_segment is not None:  # what all of a row have is lost in the softmax: the difference is enough
            segment_query = self.add_head_bias(q, self.segment_bias).unflatten(1, (self.n_heads, count)) * self.scale
            gap = torch.einsum("bhnqd,hd->bhnq", segment_query, self.segment_embed[0] - self.segment_embed[1])
            bias = torch.addcmul(bias, gap[..., None], same_segment.unflatten(1, (count, -1))[:, None])
        if visible is not None:
            fill = (
                bias.masked_fill if same_segment is None else bias.masked_fill_
            )  # the sum is nobody else's, the view is
            bias = fill(~visible.unflatten(1, (count, -1))[:, None], float("-inf"))
        k, v = (x if count == 1 else x.repeat_interleave(count, dim=1) for x in (k, v))
        return self.attend_with_bias(q, k, v, bias.flatten(1, 2))
