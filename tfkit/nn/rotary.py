"""Attention that rotates queries and keys by their positions (RoPE, Su et al. 2021, arXiv:2104.09864)."""

from __future__ import annotations

import torch
from torch import Tensor

from .attention import Projections, attend, merge_heads
from .cache import Cache


def rotary_angles(positions: Tensor, dim: int, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    """positions int [B,L] or [L] -> cos, sin [B or 1,1,L,dim/2]; once for all layers"""
    wide = torch.promote_types(dtype, torch.float32)  # half precision cannot tell angles near 1000 apart
    speed = 10000.0 ** (-torch.arange(0, dim, 2, dtype=wide, device=positions.device) / dim)
    angle = torch.atleast_2d(positions).to(wide)[:, None, :, None] * speed
    return angle.cos().to(dtype), angle.sin().to(dtype)


def rotate_pairs(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """x [B,H,L,D]: rotate its first pairs of columns (0,1), (2,3), … -> [B,H,L,D]; the other columns are unchanged"""
    rotated, rest = x.split([2 * cos.size(-1), x.size(-1) - 2 * cos.size(-1)], dim=-1)
    even, odd = rotated[..., 0::2], rotated[..., 1::2]
    rotated = torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).flatten(-2)
    return torch.cat([rotated, rest], dim=-1)


class RotaryAttention(Projections):
    """Causal self-attention whose queries and keys are rotated by their positions."""

    def forward(
        self,
        x: Tensor,
        rotation: tuple[Tensor, Tensor],
        *,
        mask: Tensor | None = None,
        cache: Cache | None = None,
    ) -> Tensor:
        """x [B,Q,E], rotation: cos and sin of the new positions, as from `rotary_angles`; mask bool, broadcastable to
        [B,H,Q,K]; keys are cached after the rotation -> [B,Q,E]"""
        q, k, v = self.queries_keys_values(x)
        q, k, causal = rotate_pairs(q, *rotation), rotate_pairs(k, *rotation), True
        if cache is not None:
            k, v = cache.extend(self, k, v)
            mask, causal = cache.apply_mask(mask, causal, x.size(1), x.device)
        out = attend(q, k, v, mask=mask, causal=causal, dropout=self.dropout_now())
        return self.o_proj(merge_heads(out))
