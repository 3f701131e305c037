"""Attention in which several query heads share keys and values (GQA, Ainslie et al. 2023, arXiv:2305.13245)."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from .attention import attend, merge_heads, split_heads
from .cache import Cache
from .rope import rotate_halves

Rotation = tuple[Tensor, Tensor]


class GroupedQueryAttention(nn.Module):
    """Causal self-attention with rotary positions: H query heads, G key and value heads, H / G queries per group.

    n_kv_heads: G, default n_heads. d_head: default E / H. bias: of q_proj, k_proj and v_proj; out_bias: of o_proj.
    scale: of the scores, default 1/sqrt(d_head). softcap: soft bound of the scores. sinks: a learned score per head for
    attending to nothing. dropout: on the weights, in training. causal: positions attend to themselves and earlier ones.
    Raises ValueError if the groups do not divide the heads, or the heads the width.
    """

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        n_kv_heads: int | None = None,
        *,
        d_head: int | None = None,
        bias: bool = False,
        out_bias: bool = False,
        scale: float | None = None,
        softcap: float | None = None,
        sinks: bool = False,
        dropout: float = 0.0,
        causal: bool = True,
    ) -> None:
        super().__init__()
        n_kv_heads = n_kv_heads or n_heads
        if n_heads % n_kv_heads:
            raise ValueError(f"n_kv_heads={n_kv_heads} does not divide n_heads={n_heads}")
        if d_head is None and d_model % n_heads:
            raise ValueError(f"n_heads={n_heads} does not divide d_model={d_model}")
        d_head = d_head or d_model // n_heads
        self.n_heads, self.n_kv_heads, self.d_head = n_heads, n_kv_heads, d_head
        self.scale, self.softcap, self.dropout, self.causal = scale, softcap, dropout, causal
        self.add_projections(d_model, bias)
        self.o_proj = nn.Linear(n_heads * d_head, d_model, bias=out_bias)
        self.sinks = nn.Parameter(torch.zeros(n_heads)) if sinks else None

    def add_projections(self, d_model: int, bias: bool) -> None:
        """Creates the layers that `queries_keys_values` applies to x."""
        self.q_proj = nn.Linear(d_model, self.n_heads * self.d_head, bias=bias)
        self.k_proj = nn.Linear(d_model, self.n_kv_heads * self.d_head, bias=bias)
        self.v_proj = nn.Linear(d_model, self.n_kv_heads * self.d_head, bias=bias)

    def queries_keys_values(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """x [B,L,E] -> q [B,H,L,D], k and v [B,G,L,D], before the rotation"""
        q = split_heads(self.q_proj(x), self.n_heads)
        return q, split_heads(self.k_proj(x), self.n_kv_heads), split_heads(self.v_proj(x), self.n_kv_heads)

    def forward(
        self,
        x: Tensor,
        rotation: Rotation | None = None,
        *,
        mask: Tensor | None = None,
        bias: Tensor | None = None,
        cache: Cache | None = None,
    ) -> Tensor:
        """x [B,L,E]: the new positions; rotation: their cos and sin, or None for no rotation; mask bool, and bias,
        which is added to the scores, broadcastable to [B,H,L,K] -> [B,L,E].

        A cache keeps G heads instead of H, which is the purpose of the groups."""
        q, k, v = self.queries_keys_values(x)
        return self.o_proj(merge_heads(self.attend_rotated(q, k, v, rotation, mask=mask, bias=bias, cache=cache)))

    def attend_rotated(
        self,
        q: Tensor,
        k: Tensor,
        v: Tensor,
        rotation: Rotation | None,
        *,
        mask: Tensor | None,
        bias: Tensor | None,
        cache: Cache | None,
    ) -> Tensor:
        """q [B,H,L,D], k and v [B,G,L,D] before the rotation, the rest as in `forward` -> the mixed values [B,H,L,D]"""
        if rotation is not None:
            q, k = rotate_halves(q, *rotation), rotate_halves(k, *rotation)
        causal, new = self.causal, q.size(2)
        if cache is not None:
            k, v = cache.extend(self, k, v)  # [B,G,K,D]
            mask, causal = cache.apply_mask(mask, causal, new, q.device)
        if bias is not None and bias.size(-1) < k.size(2):  # the empty slots of a cache of fixed size are masked
            bias = nn.functional.pad(bias, (0, k.size(2) - bias.size(-1)))
        how: dict[str, Any] = {"mask": mask, "bias": bias, "causal": causal, "scale": self.scale}
        how |= {"softcap": self.softcap, "sinks": self.sinks}
        return attend(q, k, v, **how, dropout=self.dropout if self.training else 0.0)
