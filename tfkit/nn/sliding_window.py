"""Attention within a window, plus a few global tokens (Beltagy et al. 2020, Longformer, arXiv:2004.05150)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from .. import tracing
from .attention import Projections, attend, merge_heads, split_heads


def local_global_mask(length: int, window: int, global_positions: list[int]) -> Tensor:
    """Neighbours within the window attend to each other, global tokens to all, and all to them.

    length int, window int: both sides together, global_positions list of int -> bool [L,L]
    """
    at = torch.arange(length)
    near = (at[:, None] - at).abs() <= window // 2  # [L,L]
    chosen = torch.zeros(length, dtype=torch.bool)
    chosen[torch.tensor(global_positions, dtype=torch.int64)] = True
    return near | chosen[:, None] | chosen


def sliding_window_attention(q: Tensor, k: Tensor, v: Tensor, window: int) -> Tensor:
    """Attention as under `local_global_mask` without global positions; scores outside the window are never computed.

    q, k [B,L,D], v [B,L,Dv], window int: both sides together -> [B,L,Dv]; memory grows as L times window
    """
    reach = window // 2
    steps = torch.arange(-reach, reach + 1, device=q.device)
    at = torch.arange(q.size(1), device=q.device)[:, None] + steps  # [L,W]: the keys of each position
    inside = (at >= 0) & (at < q.size(1))
    near_k, near_v = (F.pad(x, (0, 0, reach, reach)).unfold(1, len(steps), 1) for x in (k, v))  # [B,L,D,W], views
    scores = torch.einsum("bld,bldw->blw", q, near_k) * q.size(-1) ** -0.5
    weights = scores.masked_fill(~inside, -torch.inf).softmax(-1)
    return torch.einsum("blw,bldw->bld", weights, near_v)


def window_mask(non_padding: Tensor, reach: int) -> Tensor:
    """The keys that each position sees, `reach` of them on either side. The positions are taken in blocks of half that
    size: the smaller a block, the fewer keys it meets that only some of its positions see.

    non_padding bool [B,L]: the keys that count, reach int -> bool [B,N,W,W+2R] with R = reach, W = ceil(R / 2) and
    N = ceil(L / W)
    """
    block = (reach + 1) // 2
    keys = block + 2 * reach
    non_padding = F.pad(non_padding, (reach, reach + -non_padding.size(1) % block)).unfold(1, keys, block)  # [B,N,W+2R]
    query, key = (torch.arange(count, device=non_padding.device) for count in (block, keys))
    near = (query[:, None] + reach - key).abs() <= reach  # [W,W+2R]
    return near & non_padding[:, :, None]


def blockwise_window_attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Any,
    *,
    shared: tuple[Tensor, Tensor, Tensor] | None = None,
    dropout: float = 0.0,
) -> Tensor:
    """Attention within a window, in memory linear in L: each block of queries meets the keys that one of them sees.

    q, k, v [B,L,H,D], mask bool [B,N,W,W+2R], as from `window_mask`; shared: (keys [B,G,H,D], values [B,G,H,D],
    non_padding bool [B,G]) that all queries see besides; a rule as the mask has its own shared keys -> [B,L,H·D]
    """
    if not isinstance(mask, Tensor):
        return merge_heads(attend(q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2), mask=mask, dropout=dropout))
    batch, length = q.shape[:2]
    blocks, block, keys = mask.shape[1:]
    end = -length % block
    q, k, v = (F.pad(x, (0, 0, 0, 0, 0, end)) if end else x for x in (q, k, v))
    k, v = (overlapping_blocks(x, block, (keys - block) // 2) for x in (k, v))  # [B·N,H,W+2R,D]
    if shared is not None:
        *more, visible = (x.repeat_interleave(blocks, dim=0) for x in shared)  # [B·N,G,...]
        k, v = (torch.cat([extra.transpose(1, 2), x], 2) for extra, x in zip(more, (k, v), strict=True))
        mask = torch.cat([visible.view(batch, blocks, 1, -1).expand(-1, -1, block, -1), mask], -1)
    q = q.reshape(batch * blocks, block, *q.shape[2:]).transpose(1, 2)  # [B·N,H,W,D]: each block is a row of its own
    out = attend(q, k, v, mask=mask.flatten(0, 1)[:, None], dropout=dropout)
    return out.transpose(1, 2).reshape(batch, length + end, -1)[:, :length]


def overlapping_blocks(x: Tensor, block: int, reach: int) -> Tensor:
    """x [B,L,H,D], L a multiple of W = block -> [B·N,H,W+2R,D]: each block and the `reach` positions on either side.

    It is a view, so keys are not copied for each block that meets them. For that the texts of a batch stand one after
    the other: the first block of one overlaps the last of another, which the mask must hide.
    """
    texts = F.pad(x.flatten(0, 1), (0, 0, 0, 0, reach, reach))  # [B·L+2R,H,D]
    return texts.unfold(0, block + 2 * reach, block).transpose(-1, -2)


def trace_window(queries: Tensor, keys: Tensor, heads: int, shared: Tensor | None = None) -> None:
    """Records for a trace the positions of attention in blocks: queries int64 [N,W], the keys that each block of them
    meets int64 [N,K]; shared: positions [1,G] that all meet besides, or None"""
    kinds = torch.full_like(keys, tracing.KINDS.index("window"))
    if shared is not None:
        shared = shared[:1].cpu().expand(len(keys), -1)
        keys = torch.cat([shared, keys], 1)
        kinds = torch.cat([torch.full_like(shared, tracing.KINDS.index("global")), kinds], 1)
    tracing.note_positions(torch.arange(heads), queries[:, None], keys[:, None, None], kinds[:, None, None])


def trace_global(length: int, heads: int, at: Tensor) -> None:
    """The same for global queries at int64 [1,G], over all keys."""
    kind = torch.tensor(tracing.KINDS.index("global"))
    tracing.note_positions(torch.arange(heads), at[:1, None].cpu(), torch.arange(length), kind)


@dataclass(frozen=True)
class WindowContext:
    """Which positions attend to which, for all layers of a text with windows and global tokens.

    non_padding bool [B,L]; local_masks: half a window's width -> the mask of `blockwise_window_attention`;
    global_positions int64 [B,G] and is_global bool [B,G], false where a row has fewer than G; both None where no token
    is global.
    """

    non_padding: Tensor
    local_masks: dict[int, Any]
    global_positions: Tensor | None
    is_global: Tensor | None


class WindowAttention(Projections):
    """Attention within a window; global tokens see all and are seen by all, through separate projections.

    window: neighbours on both sides together; otherwise as `Projections`. Submodules q_global, k_global, v_global.
    """

    def __init__(self, d_model: int, n_heads: int, window: int, dropout: float = 0.0) -> None:
        super().__init__(d_model, n_heads, dropout=dropout)
        self.reach = window // 2
        self.q_global, self.k_global, self.v_global = (nn.Linear(d_model, d_model) for _ in "qkv")

    def forward(self, x: Tensor, context: WindowContext) -> Tensor:
        """x [B,L,E] -> [B,L,E]"""
        q, k, v = (f(x).unflatten(-1, (self.n_heads, -1)) for f in (self.q_proj, self.k_proj, self.v_proj))  # [B,L,H,D]
        dropout, rows = self.dropout_now(), torch.arange(len(x), device=x.device)[:, None]
        at, is_global = context.global_positions, context.is_global
        shared = None if at is None or is_global is None else (k[rows, at], v[rows, at], is_global)
        mask = context.local_masks[self.reach]
        out = blockwise_window_attention(q, k, v, mask, shared=shared, dropout=dropout)
        if tracing.recorder() is not None:
            self.record_positions(x.size(1), at)
        if at is not None and is_global is not None:
            global_out = self.global_attention(x, x[rows, at], context.non_padding, dropout)  # [B,G,E]
            if tracing.recorder() is not None:
                trace_global(x.size(1), self.n_heads, at)
            global_out = torch.where(is_global[..., None], global_out, out[rows, at])
            out = out.scatter(1, at[..., None].expand_as(global_out), global_out)
        return self.o_proj(out * context.non_padding[..., None])

    def record_positions(self, length: int, global_positions: Tensor | None) -> None:
        """Records the positions of each block of queries and of its keys; those outside the text are masked."""
        block = (self.reach + 1) // 2
        queries = torch.arange(length + -length % block).view(-1, block)  # [N,W]
        keys = queries[:, :1] + torch.arange(-self.reach, block + self.reach)  # [N,W+2R]
        trace_window(queries, keys % queries.numel(), self.n_heads, global_positions)

    def global_attention(self, x: Tensor, chosen: Tensor, non_padding: Tensor, dropout: float) -> Tensor:
        """x [B,L,E], chosen [B,G,E], non_padding bool [B,L] -> [B,G,E], from every position"""
        q, k, v = self.q_global(chosen), self.k_global(x), self.v_global(x)
        q, k, v = (split_heads(t, self.n_heads) for t in (q, k, v))
        return merge_heads(attend(q, k, v, mask=non_padding[:, None, None], dropout=dropout))
