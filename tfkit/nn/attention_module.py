"""The attention module of the models: the same parameters as `MultiHeadAttention`, computed by the fused kernel."""

from __future__ import annotations

from torch import Tensor, nn

from .attention import merge_heads, split_heads
from .attention_kernel import attend
from .cache import Cache


class Projections(nn.Module):
    """The four linear layers of every kind of multi-head attention; the computation between them differs.

    d_head: default E / H. bias: of q_proj, k_proj and v_proj; out_bias: of o_proj, by default the same as `bias`.
    dropout: on the weights, in training. Raises ValueError if the number of heads does not divide the width.
    """

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        *,
        d_head: int | None = None,
        bias: bool = True,
        out_bias: bool | None = None,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        if d_head is None and d_model % n_heads:
            raise ValueError(f"n_heads={n_heads} does not divide d_model={d_model}")
        inner = n_heads * (d_head or d_model // n_heads)
        self.n_heads, self.dropout = n_heads, dropout
        self.q_proj = nn.Linear(d_model, inner, bias=bias)
        self.k_proj = nn.Linear(d_model, inner, bias=bias)
        self.v_proj = nn.Linear(d_model, inner, bias=bias)
        self.o_proj = nn.Linear(inner, d_model, bias=bias if out_bias is None else out_bias)

    def queries_keys_values(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """x [B,L,E] -> q, k, v [B,H,L,D]"""
        q = split_heads(self.q_proj(x), self.n_heads)
        return q, split_heads(self.k_proj(x), self.n_heads), split_heads(self.v_proj(x), self.n_heads)

    def dropout_now(self) -> float:
        """The dropout probability of the weights: 0 outside training."""
        return self.dropout if self.training else 0.0


class Attention(Projections):
    """Multi-head attention: over x itself, or over `memory` if it is given.

    causal: positions attend to themselves and earlier ones. scale: default 1/sqrt(d_head). Otherwise as `Projections`.
    """

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        *,
        d_head: int | None = None,
        bias: bool = True,
        out_bias: bool | None = None,
        dropout: float = 0.0,
        causal: bool = False,
        scale: float | None = None,
    ) -> None:
        super().__init__(d_model, n_heads, d_head=d_head, bias=bias, out_bias=out_bias, dropout=dropout)
        self.causal, self.scale = causal, scale

    def forward(
        self,
        x: Tensor,
        memory: Tensor | None = None,
        *,
        mask: Tensor | None = None,
        bias: Tensor | None = None,
        cache: Cache | None = None,
    ) -> Tensor:
        """x [B,Q,E], memory [B,K,E], mask and bias broadcastable to [B,H,Q,K], cache: `Cache` or None -> [B,Q,E]"""
        q = split_heads(self.q_proj(x), self.n_heads)  # [B,H,Q,D]
        k, v = self.keys_values(x, memory, cache)
        causal = self.causal
        if cache is not None and memory is None:
            mask, causal = cache.apply_mask(mask, causal, x.size(1), x.device)
        dropout = self.dropout_now()
        out = attend(q, k, v, mask=mask, bias=bias, causal=causal, scale=self.scale, dropout=dropout)
        return self.o_proj(merge_heads(out))

    def keys_values(self, x: Tensor, memory: Tensor | None, cache: Cache | None) -> tuple[Tensor, Tensor]:
        """-> k, v [B,H,K,D]; memory does not change during decoding, so it is projected once."""
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
