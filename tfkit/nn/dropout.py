"""Dropout (Srivastava et al. 2014) from 16 random bits per element instead of a float.

On a CPU most of dropout's time goes into drawing: PyTorch takes about 9 ns per element, as long as the rest of
attention's forward pass, while bulk integers take 2 ns. GPUs draw inside the kernel, so PyTorch's own is used.
"""

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

BITS = 16


def keep_mask(shape: tuple[int, ...], p: float, device: Any = None) -> Tensor:
    """bool of `shape`, True with probability 1 - p to the nearest 1/65536, from torch's global generator"""
    size = torch.Size(shape).numel()
    pairs = torch.empty((size + 1) // 2, dtype=torch.int32, device=device).random_(-(2**31), 2**31 - 1)
    draws = pairs.view(torch.int16)[:size].view(shape)
    return draws >= round(p * 2**BITS) - 2 ** (BITS - 1)


def dropout(x: Tensor, p: float, training: bool = True) -> Tensor:
    """x with each element set to zero with probability p and the others divided by 1 - p; outside training x itself."""
    if not training or p == 0.0:
        return x
    if x.device.type != "cpu" or p == 1.0 or torch.compiler.is_compiling():
        return F.dropout(x, p)
    return torch.where(keep_mask(x.shape, p), x * (1 / (1 - p)), 0.0)


class Dropout(nn.Dropout):
    """`nn.Dropout` with faster random numbers."""

    def forward(self, x: Tensor) -> Tensor:
        """x of any shape; outside training x itself, not a copy."""
        return dropout(x, self.p, self.training)
