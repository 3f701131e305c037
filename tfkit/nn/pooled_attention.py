"""Attention from a sequence that was made shorter to the one before (Dai et al. 2020, Funnel-Transformer)."""

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import nn

from .attention import merge_heads, split_heads
from .disentangled import picked, scores_by_distance
from .kernel import attend


class Place(NamedTuple):
    """Who looks at whom: waves [R,E] of the distances, rows [N,W]: which of them each window has, shift: keys a query;
    same [B,Q,K], one where two are of one sentence, or None: all are; mask bool [B,1,1,K] or None."""

    waves: torch.Tensor
    rows: torch.Tensor
    shift: int
    same: torch.Tensor | None
    mask: torch.Tensor | None


class PooledAttention(nn.Module):
    """By content, distance and sentence. apart: the first position has neither place nor sentence.

    Submodules q_proj, k_proj, v_proj, o_proj; by_content, by_distance, by_type: what is added to each query for each.
    """

    def __init__(self, d_model, n_heads, d_head, *, dropout=0.0, apart=True):
        super().__init__()
        inner = n_heads * d_head
        self.n_heads, self.scale, self.dropout, self.apart = n_heads, d_head**-0.5, dropout, apart
        self.q_proj = nn.Linear(d_model, inner, bias=False)
        self.k_proj, self.v_proj, self.o_proj = (
            nn.Linear(*pair) for pair in ((d_model, inner), (d_model, inner), (inner, d_model))
        )
        self.by_content, self.by_distance, self.by_type = (
            nn.Parameter(0.1 * torch.rand(n_heads, d_head)) for _ in range(3)
        )
        self.waves = nn.Parameter(0.1 * torch.rand(d_model, n_heads, d_head))
        self.types = nn.Parameter(0.1 * torch.rand(2, n_heads, d_head))  # another sentence, the same

    def bias(self, q, place):
        """q [B,H,Q,D] -> scaled scores by distance and sentence [B,H,Q,K], but for what is the same for all keys"""
        length = q.size(2)
        real = (torch.arange(length, device=q.device) > 0)[:, None] if self.apart else 1
        table = torch.einsum("re,ehd->hrd", place.waves, self.waves * self.scale)
        table = picked(table, place.rows)
        far = scores_by_distance((q + self.by_distance[:, None]) * real, table, place.shift)  # [B,H,N,T,K]
        kinds = torch.einsum("bhqd,shd->bhqs", (q + self.by_type[:, None]) * real, self.types * self.scale)
        other, same = kinds.unbind(-1)  # [B,H,Q]
        if self.apart:  # the first key has neither place nor sentence: it is lower by what is left out of all others
            first = same if place.same is None else other
            first = F.pad(-first, (0, far[0, 0, :, :, 0].numel() - length)).view(*far.shape[:4], 1)
            far = torch.cat([first, far[..., 1:]], -1)
        far = far.flatten(2, 3)[:, :, :length]
        if place.same is None:
            return far
        return far.addcmul((same - other)[..., None], place.same[:, None].to(far.dtype))

    def forward(self, x, memory, place):
        """x [B,Q,E], memory [B,K,E] -> [B,Q,E]"""
        q, k, v = (split_heads(y, self.n_heads) for y in (self.q_proj(x), self.k_proj(memory), self.v_proj(memory)))
        dropout = self.dropout if self.training else 0.0
        content, bias = q + self.by_content[:, None], self.bias(q, place)
        out = attend(content, k, v, mask=place.mask, bias=bias, scale=self.scale, dropout=dropout)
        return self.o_proj(merge_heads(out))
