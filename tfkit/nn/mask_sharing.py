"""What all layers of a forward pass make of the same mask is made once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.utils.weak import WeakTensorKeyDictionary

_made: Any = WeakTensorKeyDictionary()  # mask -> {key: (versions, the other mask, what was made)}, as long as it lives


def once_per_mask(mask: Tensor, key: Any, make: Callable[[], Any], beside: Tensor | None = None) -> Any:
    """make(), or what it gave when it was last asked for by this key with this very mask, and `beside`, as they are.

    What is made must not be the mask or a view of it, which would keep it alive. Made anew each time: what has a
    gradient, what a graph is made of (the compiler sees that it is the same), and what belongs to inference mode, where
    a tensor does not say whether it was written into.
    """
    if torch.compiler.is_compiling() or any(
        x is not None and (x.requires_grad or x.is_inference()) for x in (mask, beside)
    ):
        return make()
    versions = mask._version, None if beside is None else beside._version
    kept = _made.setdefault(mask, {})
    if key not in kept or kept[key][0] != versions or kept[key][1] is not beside:
        kept[key] = versions, beside, make()
    return kept[key][2]


def complement(mask: Tensor) -> Tensor:
    """~mask, once."""
    return once_per_mask(mask, "complement", lambda: ~mask)
