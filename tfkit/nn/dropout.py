"""Dropout (Srivastava et al. 2014) from 16 random bits per element instead of a float.

On a CPU PyTorch's dropout takes about 9 ns per element in a training step, most of it for drawing; this one takes 2.
GPUs draw inside the kernel, so PyTorch's own is used there. Decision 23 has the measurements.
"""

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

BITS = 16
BLOCK = 2**18  # elements whose factors stay in a core's cache between two operations


def keep_mask(shape: tuple[int, ...], p: float, device: torch.device | None = None) -> Tensor:
    """bool of `shape`, True with probability 1 - p to the nearest 1/65536, from torch's global generator"""
    size = torch.Size(shape).numel()
    words = torch.empty((size + 3) // 4, dtype=torch.int64, device=device).random_(-(2**63), None)
    draws = words.view(torch.int16)[:size].view(shape)
    kept = torch.empty(shape, dtype=torch.uint8, device=device)  # comparing into bytes is vectorised, into bool not
    return torch.ge(draws, round(p * 2**BITS) - 2 ** (BITS - 1), out=kept).view(torch.bool)


class ScaleKept(torch.autograd.Function):
    """x * keep * scale. One byte per element is saved for the backward pass.

    A product with 0 and 1 is vectorised; `torch.where`, which gives the same result, takes up to ten times as long
    on a CPU.
    """

    @staticmethod
    def forward(x: Tensor, keep: Tensor, scale: float) -> Tensor:
        """x of any shape, keep bool of that shape -> the same shape and dtype"""
        out, zero = torch.empty(x.shape, dtype=x.dtype, device=x.device), x.new_zeros(())
        blocks = (t.reshape(-1).split(BLOCK) for t in (x, keep.view(torch.uint8), out))
        for source, kept, target in zip(*blocks, strict=True):
            torch.addcmul(zero, source, kept.to(x.dtype), value=scale, out=target)
        return out

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, Tensor, float], output: Tensor) -> None:
        """Save what `backward` needs."""
        ctx.save_for_backward(inputs[1])
        ctx.scale = inputs[2]

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None]:
        """The gradient of the output -> that of x: the same product."""
        return ScaleKept.apply(grad, *ctx.saved_tensors, ctx.scale), None, None


def dropout(x: Tensor, p: float, training: bool = True) -> Tensor:
    """x with each element set to zero with probability p and the others divided by 1 - p; outside training x itself."""
    return apply_dropout(x, p) if training else x


def apply_dropout(x: Tensor, p: float) -> Tensor:
    """x with each element set to zero with probability p and the others divided by 1 - p.

    For functions that have an argument called `dropout`: `tfkit flatten` writes modules into one file, where an import
    cannot give `dropout` another name.
    """
    if p == 0.0:
        return x
    if x.device.type != "cpu" or p == 1.0 or torch.compiler.is_compiling():
        return F.dropout(x, p)
    return ScaleKept.apply(x, keep_mask(x.shape, p), 1 / (1 - p))


class Dropout(nn.Dropout):
    """`nn.Dropout` with faster random numbers."""

    def forward(self, x: Tensor) -> Tensor:
        """x of any shape; outside training x itself, not a copy."""
        return dropout(x, self.p, self.training)
