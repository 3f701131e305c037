"""Reformer's two kinds of attention (Kitaev et al. 2020): local, and to positions with similar LSH hashes.

Each computes a whole text or, with a cache, one more token.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from .. import tracing
from ..nn import Cache, attend, merge_heads, split_heads
from ..nn.lsh import attend_last_query, bucket_neighbours, hashed_attention, lsh_buckets, shared_bias, unit_keys
from ..nn.sliding_window import concat_neighbours, sliding_attention, trace_window


class ReformerCache(Cache):
    """Keys and values; for hashed layers also the buckets [B,H,R,T] and the seed of their random rotations."""

    def __init__(self, seeds: list[int]) -> None:
        super().__init__()
        self.buckets: dict[nn.Module, torch.Tensor] = {}
        self.seeds = seeds

    def reorder(self, index: Tensor) -> None:
        super().reorder(index)
        self.buckets = {module: buckets.index_select(0, index) for module, buckets in self.buckets.items()}

    def reorder_from(self, index: Tensor, prefix_length: int = 0) -> None:
        super().reorder_from(index, prefix_length)
        self.buckets = {module: buckets.index_select(0, index) for module, buckets in self.buckets.items()}

    def crop(self, length: int) -> None:
        super().crop(length)
        self.buckets = {module: buckets[..., :length] for module, buckets in self.buckets.items()}


@dataclass(frozen=True)
class ReformerContext:
    """What all layers of a call share. non_padding bool [B,K] or None: the keys that are not padding; length, past:
    numbers of new and earlier tokens; seeds: one per layer; buckets_for_backward: module -> buckets, for recomputation
    in the backward pass (rounding may move a vector to another bucket), or None."""

    non_padding: torch.Tensor | None
    length: int
    past: int
    cache: ReformerCache | None
    seeds: list[Any]
    buckets_for_backward: dict[Any, Tensor] | None


class LocalAttention(nn.Module):
    def __init__(self, c: Any, index: int) -> None:
        super().__init__()
        inner = c.n_heads * c.d_head
        self.q_proj, self.k_proj, self.v_proj = (nn.Linear(c.d_model, inner, bias=False) for _ in "qkv")
        self.o_proj = nn.Linear(inner, c.d_model, bias=False)
        self.config, self.n_heads, self.index = c, c.n_heads, index
        self.chunk, self.before, self.after = c.local_chunk, c.local_before, c.local_after
        self.dropout = c.local_dropout

    def forward(self, x: Tensor, context: ReformerContext) -> Tensor:
        """x [B,L,E] -> [B,L,E]"""
        q, k, v = (f(x).unflatten(-1, (self.n_heads, -1)) for f in (self.q_proj, self.k_proj, self.v_proj))
        if context.cache is not None:
            k, v = (t.transpose(1, 2) for t in (k, v))
            old = context.cache.extend(self, k[:, :, : context.length], v[:, :, : context.length])
            k, v = (t.transpose(1, 2) for t in (old if context.past else (k, v)))
        if context.past:
            start = max(0, (context.past // self.chunk - self.before) * self.chunk)
            mask = None if context.non_padding is None else context.non_padding[:, None, None, start:]
            q, k, v = (t.transpose(1, 2) for t in (q, k[:, start:], v[:, start:]))
            return self.o_proj(merge_heads(attend(q, k, v, mask=mask)))
        dropout = self.dropout if self.training else 0.0
        whole = q.size(1) <= self.chunk
        before, after = (0, 0) if whole else (self.before, self.after)
        chunk = q.size(1) if whole else self.chunk
        mask = self.mask(context.non_padding, q, chunk, before, after)
        if tracing.recorder() is not None:
            trace_window(q.size(1), chunk, self.n_heads, before, after)
        return self.o_proj(sliding_attention(q, k, v, mask, before=before, after=after, dropout=dropout))

    def mask(self, non_padding: Tensor | None, q: Tensor, chunk: int, before: int, after: int) -> Tensor:
        """-> bool [B,N,W,(before+1+after)·W]"""
        at = torch.arange(q.size(1), device=q.device).view(1, -1, chunk)  # [1,N,W]
        near = concat_neighbours(at, before, after)
        mask = torch.ones_like(near[:, :, None].expand(-1, -1, chunk, -1), dtype=torch.bool)
        if self.config.is_decoder:
            mask = at[..., None] >= near[:, :, None]
        if non_padding is not None:
            mask = mask & concat_neighbours(non_padding.view(-1, *at.shape[1:]), before, after)[:, :, None]
        return mask.expand(q.size(0), -1, -1, -1)


class HashedAttention(nn.Module):
    def __init__(self, c: Any, index: int) -> None:
        super().__init__()
        inner = c.n_heads * c.d_head
        self.qk_proj, self.v_proj = (nn.Linear(c.d_model, inner, bias=False) for _ in "qv")
        self.o_proj = nn.Linear(inner, c.d_model, bias=False)
        self.config, self.n_heads, self.index, self.chunk = c, c.n_heads, index, c.lsh_chunk

    def forward(self, x: Tensor, context: ReformerContext) -> Tensor:
        """x [B,L,E] -> [B,L,E]"""
        qk, v = (split_heads(f(x), self.n_heads) for f in (self.qk_proj, self.v_proj))
        out = self.step(qk, v, context) if context.past else self.read(qk, v, context)
        return self.o_proj(merge_heads(out))

    def read(self, qk: Tensor, v: Tensor, context: ReformerContext) -> Tensor:
        """Attention over a whole text, qk, v [B,H,L,D] -> [B,H,L,D]; a text of a single chunk gets full attention."""
        c, length, buckets = self.config, qk.size(2), None
        dropout = c.lsh_dropout if self.training else 0.0
        if length > self.chunk:
            buckets = self.hash(qk, context, length)
            how: dict[str, Any] = {"chunk": self.chunk, "before": c.lsh_before, "after": c.lsh_after}
            how |= {"non_padding": context.non_padding, "causal": c.is_decoder, "dropout": dropout}
            out = hashed_attention(qk, v, buckets, **how)
        else:
            at = torch.arange(length, device=v.device)
            bias = shared_bias(
                at, at, None if context.non_padding is None else context.non_padding[:, None], c.is_decoder, v.dtype
            )
            out = attend(qk, unit_keys(qk), v, bias=bias, scale=1.0, dropout=dropout)
        if context.cache is not None:
            context.cache.extend(self, qk[:, :, : context.length], v[:, :, : context.length])
            if buckets is not None:
                context.cache.buckets[self] = buckets[..., : context.length]
        return out

    def hash(self, qk: Tensor, context: ReformerContext, length: int) -> Tensor:
        """qk [B,H,L,D] -> buckets [B,H,R,L]; padding has the last bucket to itself"""
        if context.buckets_for_backward is not None and self in context.buckets_for_backward:
            return context.buckets_for_backward[self]
        c, factors = self.config, self.config.factors(length)
        draw = torch.Generator(qk.device).manual_seed(context.seeds[self.index])
        shape = (self.n_heads, c.d_head, c.n_hashes, sum(factors) // 2)
        turns = torch.randn(shape, generator=draw, dtype=qk.dtype, device=qk.device).permute(0, 2, 1, 3)  # [H,R,D,·]
        found = [lsh_buckets(qk.detach()[:, :, None], turn) for turn in turns.split([n // 2 for n in factors], -1)]
        buckets, size = found[0], factors[0]
        for more, factor in zip(found[1:], factors[1:], strict=True):
            buckets, size = buckets + size * more, size * factor
        if context.non_padding is not None:
            buckets = buckets.masked_fill(~context.non_padding[:, None, None, -qk.size(2) :], size)
        buckets = buckets.int()
        if context.buckets_for_backward is not None:
            context.buckets_for_backward[self] = buckets
        return buckets

    def step(self, qk: Tensor, v: Tensor, context: ReformerContext) -> Tensor:
        """One more token: qk, v [B,H,1,D] -> [B,H,1,D]"""
        c, cache, total = self.config, context.cache, context.past + 1
        assert cache is not None  # steps are taken with a cache only
        keys, values = cache.extend(self, qk, v)
        if self in cache.buckets:
            buckets = torch.cat([cache.buckets[self], self.hash(qk, context, total)], -1)
            at = bucket_neighbours(buckets, self.chunk, c.lsh_before, c.lsh_after)
            cache.buckets[self] = buckets
        else:
            at = torch.arange(total, device=v.device).expand(*keys.shape[:2], 1, -1)
            if total >= self.chunk:
                cache.buckets[self] = self.hash(keys, context, total)
        return attend_last_query(qk, keys, values, at, context.non_padding)
