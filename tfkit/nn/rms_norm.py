"""Root mean square normalisation (Zhang and Sennrich 2019, arXiv:1910.07467): no mean is subtracted, no bias added."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class RMSNorm(nn.Module):
    """x / sqrt(mean(x²) + eps) · weight, over the last dimension; the mean is taken in float32 or wider.

    Parameter weight [width].
    """

    def __init__(self, width: int, eps: float = 1e-6) -> None:
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(width))

    def normalize(self, x: Tensor) -> Tensor:
        """x [...,width] -> [...,width], before the weight, in float32 or wider"""
        wide = x.to(torch.promote_types(x.dtype, torch.float32))
        norm = torch.linalg.vector_norm(wide, dim=-1, keepdim=True)  # the squares themselves are never stored
        return wide * torch.rsqrt(norm.square() / x.size(-1) + self.eps)

    def forward(self, x: Tensor) -> Tensor:
        """x [...,width] -> [...,width]"""
        return self.weight * self.normalize(x).to(x.dtype)


class WideRMSNorm(RMSNorm):
    """The same with the weight applied before the result is rounded to x's dtype (OLMo 2, gpt-oss)."""

    def forward(self, x: Tensor) -> Tensor:
        """x [...,width] -> [...,width]"""
        return (self.weight * self.normalize(x)).to(x.dtype)


class UnitOffsetRMSNorm(RMSNorm):
    """The same with the weight stored as an offset from 1, so that weight decay pulls it towards 1 (Gemma)."""

    def __init__(self, width: int, eps: float = 1e-6) -> None:
        super().__init__(width, eps)
        nn.init.zeros_(self.weight)

    def forward(self, x: Tensor) -> Tensor:
        """x [...,width] -> [...,width]"""
        normalized = self.normalize(x)
        return (normalized * (1.0 + self.weight.to(normalized.dtype))).to(x.dtype)
