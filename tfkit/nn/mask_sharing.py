"""Caches what all layers of a forward pass derive from the same mask."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

import torch
from torch import Tensor
from torch.utils.weak import WeakTensorKeyDictionary

T = TypeVar("T")
_results: Any = (
    WeakTensorKeyDictionary()
)  # mask -> {key: (versions, the other mask, result)}, as long as the mask lives


def once_per_mask(mask: Tensor, key: Hashable, make: Callable[[], T], beside: Tensor | None = None) -> T:
    """make(), or its earlier result for this key, this very mask and this `beside`, if neither has been written to
    since.

    The result must not be the mask or a view of it, which would keep it alive. Results are not cached for tensors with
    gradients, while a graph is compiled (the compiler finds common subexpressions itself), and in inference mode, whose
    tensors do not record writes.
    """
    if torch.compiler.is_compiling() or any(
        x is not None and (x.requires_grad or x.is_inference()) for x in (mask, beside)
    ):
        return make()
    versions = mask._version, None if beside is None else beside._version
    kept = _results.setdefault(mask, {})
    if key not in kept or kept[key][0] != versions or kept[key][1] is not beside:
        kept[key] = versions, beside, make()
    return kept[key][2]


def complement(mask: Tensor) -> Tensor:
    """~mask, computed once per mask."""
    return once_per_mask(mask, "complement", lambda: ~mask)
