"""Root mean square normalisation (Zhang and Sennrich 2019, arXiv:1910.07467): no mean is subtracted, no bias added."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from .in_place import multiply


def inverse_rms(x: Tensor, eps: float) -> Tensor:
    """x [...,width] -> 1 / sqrt(mean(x²) + eps) [...,1]"""
    norm = torch.linalg.vector_norm(x, dim=-1, keepdim=True)  # the squares themselves are never stored
    return torch.rsqrt(norm.square() / x.size(-1) + eps)


class RMSNormalization(torch.autograd.Function):
    """x · s and s, with s = 1 / sqrt(mean(x²) + eps) for each row.

    For the backward pass the result n is kept, which the product with a weight keeps anyway, and not x: for a gradient
    g of n, that of x is s · (g - n · mean(g · n)). PyTorch derives it step by step, in more than twice the time.
    """

    generate_vmap_rule = True

    @staticmethod
    def forward(x: Tensor, eps: float) -> tuple[Tensor, Tensor]:
        """x [...,width] -> [...,width], [...,1]"""
        factor = inverse_rms(x, eps)
        return x * factor, factor

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, float], output: tuple[Tensor, Tensor]) -> None:
        """Save what `backward` needs."""
        ctx.save_for_backward(*output)
        ctx.save_for_forward(*output)

    @staticmethod
    def backward(ctx: Any, grad: Tensor, factor_grad: Tensor) -> tuple[Tensor, None]:
        """The gradients of the normalized rows and of their factors -> that of x. The second is zero unless the
        gradient is itself differentiated."""
        normalized, factor = ctx.saved_tensors
        along = (grad * normalized).mean(-1, keepdim=True) + factor_grad * factor / normalized.size(-1)
        return torch.addcmul(grad, normalized, along, value=-1) * factor, None

    @staticmethod
    def jvp(ctx: Any, tangent: Tensor, _: None) -> tuple[Tensor, Tensor]:
        """A change of x -> those of the normalized rows and of their factors."""
        normalized, factor = ctx.saved_tensors
        along = (tangent * normalized).mean(-1, keepdim=True)
        return torch.addcmul(tangent, normalized, along, value=-1) * factor, -along * factor.square()


def rms_normalize(x: Tensor, shape: Sequence[int], *, eps: float) -> Tensor:
    """x [...,width] / sqrt(mean(x²) + eps) -> [...,width]; shape: [width].

    The arguments are those of `F.rms_norm`, which `tfkit flatten` writes in its place."""
    if not x.requires_grad or x.device.type != "cpu" or torch.compiler.is_compiling():
        return x * inverse_rms(x, eps)
    normalized: Tensor = RMSNormalization.apply(x, eps)[0]
    return normalized


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
        return rms_normalize(wide, wide.shape[-1:], eps=self.eps)

    def forward(self, x: Tensor) -> Tensor:
        """x [...,width] -> [...,width]"""
        return multiply(self.normalize(x).to(x.dtype), self.weight)


class WideRMSNorm(RMSNorm):
    """The same with the weight applied before the result is rounded to x's dtype (OLMo 2, gpt-oss)."""

    def forward(self, x: Tensor) -> Tensor:
        """x [...,width] -> [...,width]"""
        return multiply(self.normalize(x), self.weight).to(x.dtype)


class UnitOffsetRMSNorm(RMSNorm):
    """The same with the weight stored as an offset from 1, so that weight decay pulls it towards 1 (Gemma)."""

    def __init__(self, width: int, eps: float = 1e-6) -> None:
        super().__init__(width, eps)
        nn.init.zeros_(self.weight)

    def forward(self, x: Tensor) -> Tensor:
        """x [...,width] -> [...,width]"""
        normalized = self.normalize(x)
        return multiply(normalized, 1.0 + self.weight.to(normalized.dtype)).to(x.dtype)
