"""Attention of two streams: one knows the word it stands for, one only that word's place (Yang et al. 2019, 2.3)."""

import torch
from torch import nn

from .attention import merge_heads, scaled_dot_product_attention, split_heads
from .relative import RelativeAttention

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


class TwoStreams(RelativeAttention):
    """by_segment [H,D], segments [2,H,D] (the same, another): what a query asks of its segment, and the answers."""

    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__(d_model, n_heads, dropout=dropout)
        shape = self.by_content.shape
        self.by_segment, self.segments = nn.Parameter(torch.zeros(shape)), nn.Parameter(torch.zeros(2, *shape))

    def forward(self, h, g, memory, waves, seen, same, mapping, last):  # type: ignore[override]
        """h [B,L,E]; g [B,P,E], mapping [B,P,L]: which place each of g is at, or None; memory [B,M,E] or None; waves:
        [R,E] per direction; seen: per stream bool [B,L,K] or None; same [B,L,K], 1 in one segment; last: where there is
        a second stream, nobody reads on in the first -> [B,L,E], [B,P,E]"""
        source = h if memory is None else torch.cat([memory, h], dim=1)
        k, v = (split_heads(proj(source), self.n_heads) for proj in (self.k_proj, self.v_proj))
        keys = k, v, [self.far(each) for each in waves], same
        attended = None if last and g is not None else self.stream(self.q_proj(h), seen[0], *keys)
        if g is None:
            return attended, None
        return attended, mapping @ self.stream(mapping.transpose(1, 2) @ self.q_proj(g), seen[1], *keys)

    def stream(self, q, seen, k, v, far, same):
        """Queries go in blocks: each meets only the distances that it has. All blocks at once, as if they were heads"""
        (batch, length, _), keys = q.shape, k.size(2)
        count = next(n for n in range(max(length // BLOCK, 1), 0, -1) if length % n == 0)
        q = split_heads(q, self.n_heads).reshape(batch, self.n_heads * count, length // count, -1)
        reach = keys + length // count - 1
        far = [f.unfold(2, reach, length // count).flip(2).permute(0, 2, 1, 3).flatten(0, 1) for f in far]
        parts = [self.distance_bias(rows, f, keys) for rows, f in zip(q.chunk(len(far)), far, strict=True)]
        bias = (parts[0] if len(far) == 1 else torch.cat(parts)).unflatten(1, (self.n_heads, count))
        if same is not None:  # what all of a row have is lost in the softmax: the difference is enough
            asked = self.asked(q, self.by_segment).unflatten(1, (self.n_heads, count)) * self.scale
            gap = torch.einsum("bhnqd,hd->bhnq", asked, self.segments[0] - self.segments[1])
            bias = torch.addcmul(bias, gap[..., None], same.unflatten(1, (count, -1))[:, None])
        if seen is not None:
            fill = bias.masked_fill if same is None else bias.masked_fill_  # the sum is nobody else's, the view is
            bias = fill(~seen.unflatten(1, (count, -1))[:, None], float("-inf"))
        k, v = (x if count == 1 else x.repeat_interleave(count, dim=1) for x in (k, v))
        return self.look(q, k, v, bias.flatten(1, 2))
