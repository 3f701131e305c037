"""Attention within a window, plus a few global tokens (Beltagy et al. 2020, Longformer, arXiv:2004.05150)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from .. import tracing
from .attention import Projections, attend, concat_neighbours, merge_heads, sliding_attention, split_heads


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
    """The keys that each position sees in its own block and the two adjacent ones, of `reach` positions each.

    non_padding bool [B,L]: the keys that count, reach int -> bool [B,N,W,3W] with W = reach and N = ceil(L / W)
    """
    length = non_padding.size(1)
    non_padding = F.pad(non_padding, (0, -length % reach)).unflatten(1, (-1, reach))  # [B,N,W]
    offset = torch.arange(3 * reach, device=non_padding.device) - reach  # of a key, from the start of the query's block
    near = (torch.arange(reach, device=non_padding.device)[:, None] - offset).abs() <= reach  # [W,3W]
    key = torch.arange(non_padding.size(1), device=non_padding.device)[:, None] * reach + offset  # [N,3W]
    inside = (key >= 0) & (key < length)  # no wrapping around the ends
    return near & (concat_neighbours(non_padding, 1, 1) & inside)[:, :, None]


def trace_window(
    length: int, reach: int, heads: int, before: int = 1, after: int = 1, shared: Tensor | None = None
) -> None:
    """Records for a trace the positions of queries and keys of `sliding_attention`; shared: positions int64 [1,G] or
    None"""
    at = torch.arange(length + -length % reach).view(1, -1, reach)  # [1,N,W]
    near = concat_neighbours(at, before, after)[0]  # [N,3W]
    kinds = torch.full_like(near, tracing.KINDS.index("window"))
    if shared is not None:
        shared = shared[:1].cpu().expand(len(near), -1)
        near = torch.cat([shared, near], 1)
        kinds = torch.cat([torch.full_like(shared, tracing.KINDS.index("global")), kinds], 1)
    tracing.note_positions(torch.arange(heads), at[0][:, None], near[:, None, None], kinds[:, None, None])


def trace_global(length: int, heads: int, at: Tensor) -> None:
    """The same for global queries at int64 [1,G], over all keys."""
    kind = torch.tensor(tracing.KINDS.index("global"))
    tracing.note_positions(torch.arange(heads), at[:1, None].cpu(), torch.arange(length), kind)


@dataclass(frozen=True)
class WindowContext:
    """Which positions attend to which, for all layers of a text with windows and global tokens.

    non_padding bool [B,L]; local_masks: half a window's width -> the mask of `sliding_attention`; global_positions
    int64 [B,G] and is_global bool [B,G], false where a row has fewer than G; both None where no token is global.
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
        shared = None if at is None else (k[rows, at], v[rows, at], is_global)
        out = sliding_attention(q, k, v, context.local_masks[self.reach], shared=shared, dropout=dropout)
        if tracing.recorder() is not None:
            trace_window(x.size(1), self.reach, self.n_heads, shared=at)
        if at is not None and is_global is not None:
            global_out = self.global_attention(x, x[rows, at], context.non_padding, dropout)  # [B,G,E]
            if tracing.recorder() is not None:
                trace_global(x.size(1), self.n_heads, at)
            global_out = torch.where(is_global[..., None], global_out, out[rows, at])
            out = out.scatter(1, at[..., None].expand_as(global_out), global_out)
        return self.o_proj(out * context.non_padding[..., None])

    def global_attention(self, x: Tensor, chosen: Tensor, non_padding: Tensor, dropout: float) -> Tensor:
        """x [B,L,E], chosen [B,G,E], non_padding bool [B,L] -> [B,G,E], from every position"""
        q, k, v = self.q_global(chosen), self.k_global(x), self.v_global(x)
        q, k, v = (split_heads(t, self.n_heads) for t in (q, k, v))
        return merge_heads(attend(q, k, v, mask=non_padding[:, None, None], dropout=dropout))
