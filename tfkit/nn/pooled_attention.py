"""Attention from a pooled sequence to the longer one before it (Dai et al. 2020, Funnel-Transformer)."""

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from .attention import attend, merge_heads, split_heads
from .disentangled_attention import gather_rows, scores_by_distance


class PoolingContext(NamedTuple):
    """What all layers of a block share: position_encodings [R,E] of the relative distances; rows [N,W]: the encodings
    that each window of queries uses; shift: keys per query; same_segment [B,Q,K]: 1 if both are in the same
    segment, or None: all are; mask bool [B,1,1,K] or None."""

    position_encodings: torch.Tensor
    rows: torch.Tensor
    shift: int
    same_segment: torch.Tensor | None
    mask: torch.Tensor | None


class PooledAttention(nn.Module):
    """Scores by content, distance and segment. separate_cls: the first position has neither distance nor segment.

    Submodules q_proj, k_proj, v_proj, o_proj; parameters content_bias, position_bias, segment_bias: the biases added to
    each query for the three kinds of score.
    """

    def __init__(
        self, d_model: int, n_heads: int, d_head: int, *, dropout: float = 0.0, separate_cls: bool = True
    ) -> None:
        super().__init__()
        inner = n_heads * d_head
        self.n_heads, self.scale, self.dropout, self.separate_cls = n_heads, d_head**-0.5, dropout, separate_cls
        self.q_proj = nn.Linear(d_model, inner, bias=False)
        self.k_proj, self.v_proj, self.o_proj = (
            nn.Linear(*pair) for pair in ((d_model, inner), (d_model, inner), (inner, d_model))
        )
        self.content_bias, self.position_bias, self.segment_bias = (
            nn.Parameter(0.1 * torch.rand(n_heads, d_head)) for _ in range(3)
        )
        self.position_kernel = nn.Parameter(0.1 * torch.rand(d_model, n_heads, d_head))
        # for another segment, and for the same one
        self.segment_embed = nn.Parameter(0.1 * torch.rand(2, n_heads, d_head))

    def bias(self, q: Tensor, context: PoolingContext) -> Tensor:
        """q [B,H,Q,D] -> scaled scores by distance and segment [B,H,Q,K], up to a constant per query"""
        length = q.size(2)
        not_cls = (torch.arange(length, device=q.device) > 0)[:, None] if self.separate_cls else 1
        table = torch.einsum("re,ehd->hrd", context.position_encodings, self.position_kernel * self.scale)
        table = gather_rows(table, context.rows)
        position_scores = scores_by_distance(
            (q + self.position_bias[:, None]) * not_cls, table, context.shift
        )  # [B,H,N,T,K]
        kinds = torch.einsum(
            "bhqd,shd->bhqs", (q + self.segment_bias[:, None]) * not_cls, self.segment_embed * self.scale
        )
        other, same = kinds.unbind(-1)  # [B,H,Q]
        if (
            self.separate_cls
        ):  # the first key has neither distance nor sentence: it gets minus the constant that all other keys omit
            first = same if context.same_segment is None else other
            first = F.pad(-first, (0, position_scores[0, 0, :, :, 0].numel() - length)).view(
                *position_scores.shape[:4], 1
            )
            position_scores = torch.cat([first, position_scores[..., 1:]], -1)
        position_scores = position_scores.flatten(2, 3)[:, :, :length]
        if context.same_segment is None:
            return position_scores
        return position_scores.addcmul(
            (same - other)[..., None], context.same_segment[:, None].to(position_scores.dtype)
        )

    def forward(self, x: Tensor, memory: Tensor, context: PoolingContext) -> Tensor:
        """x [B,Q,E], memory [B,K,E] -> [B,Q,E]"""
        q, k, v = (split_heads(y, self.n_heads) for y in (self.q_proj(x), self.k_proj(memory), self.v_proj(memory)))
        dropout = self.dropout if self.training else 0.0
        content, bias = q + self.content_bias[:, None], self.bias(q, context)
        out = attend(content, k, v, mask=context.mask, bias=bias, scale=self.scale, dropout=dropout)
        return self.o_proj(merge_heads(out))
