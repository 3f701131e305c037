"""Products in memory that nothing else reads."""

from __future__ import annotations

import torch
from torch import Tensor


def multiply(own: Tensor, other: Tensor) -> Tensor:
    """own · other. The product takes the memory of `own`, which must be a result that only the caller holds, unless a
    gradient may need it or the dtypes differ."""
    if torch.is_grad_enabled() or own.dtype != other.dtype:
        return own * other
    return own.mul_(other)
