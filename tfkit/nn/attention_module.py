"""The attention module that the models are made of: the same parameters as `MultiHeadAttention`, the fused kernel."""

from torch import nn

from .attention import merge_heads, split_heads
from .attention_kernel import attend


class Attention(nn.Module):
    """Multi-head attention: over x itself, or over `memory` where it is given.

    d_head: E / H unless given. bias: whether the projections have one. dropout: on the weights, in training. causal: no
    looking ahead. scale: 1/sqrt(d_head) unless given. Raises ValueError where heads do not divide the width.
    """

    def __init__(self, d_model, n_heads, *, d_head=None, bias=True, dropout=0.0, causal=False, scale=None):
        super().__init__()
        if d_head is None and d_model % n_heads:
            raise ValueError(f"n_heads={n_heads} does not divide d_model={d_model}")
        inner = n_heads * (d_head or d_model // n_heads)
        self.n_heads, self.dropout, self.causal, self.scale = n_heads, dropout, causal, scale
        self.q_proj = nn.Linear(d_model, inner, bias=bias)
        self.k_proj = nn.Linear(d_model, inner, bias=bias)
        self.v_proj = nn.Linear(d_model, inner, bias=bias)
        self.o_proj = nn.Linear(inner, d_model, bias=bias)

    def forward(self, x, memory=None, *, mask=None, bias=None, cache=None):
        """x [B,Q,E], memory [B,K,E], mask and bias broadcastable to [B,H,Q,K], cache: `Cache` or None -> [B,Q,E]"""
        q = split_heads(self.q_proj(x), self.n_heads)  # [B,H,Q,D]
        k, v = self.keys_values(x, memory, cache)
        causal = self.causal
        if cache is not None and memory is None:
            mask, causal = cache.apply_mask(mask, causal, x.size(1), x.device)
        dropout = self.dropout if self.training else 0.0
        out = attend(q, k, v, mask=mask, bias=bias, causal=causal, scale=self.scale, dropout=dropout)
        return self.o_proj(merge_heads(out))

    def keys_values(self, x, memory, cache):
        """-> k, v [B,H,K,D]; memory does not change while a sentence is decoded, so it is projected once."""
        if memory is not None and cache is not None and self in cache.cross_attention:
            return cache.cross_attention[self]
        source = x if memory is None else memory
        k, v = split_heads(self.k_proj(source), self.n_heads), split_heads(self.v_proj(source), self.n_heads)
        if cache is None:
            return k, v
        if memory is None:
            return cache.extend(self, k, v)
        cache.cross_attention[self] = k, v
        return k, v
