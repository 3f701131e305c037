"""The memory that a computation needs, counted from the tensors it keeps alive: the same number on every machine."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves


class MemoryMeter(TorchDispatchMode):
    """Counts the bytes of tensors alive at the same time, in addition to those before: `peak`."""

    def __init__(self) -> None:
        super().__init__()
        self.storages: set[int] = set()
        self.now = self.peak = 0

    def free(self, key: int, size: int) -> None:
        """A storage of `size` bytes was freed."""
        self.storages.discard(key)
        self.now -= size

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = func(*args, **kwargs or {})
        given = {t.untyped_storage()._cdata for t in tree_leaves((args, kwargs)) if isinstance(t, torch.Tensor)}
        for tensor in tree_leaves(out):
            if isinstance(tensor, torch.Tensor):
                self.count(tensor.untyped_storage(), given)
        return out

    def count(self, storage: Any, given: set[int]) -> None:
        """Counts a storage's bytes until it is freed, unless it existed before or is counted already."""
        key, size = storage._cdata, storage.nbytes()
        if key in self.storages or key in given:
            return
        self.storages.add(key)
        weakref.finalize(storage, self.free, key, size)
        self.now += size
        self.peak = max(self.peak, self.now)


def peak_bytes(do: Callable[[], Any]) -> int:
    """The most bytes of tensors that `do` keeps alive at the same time."""
    with MemoryMeter() as live:
        do()
    return live.peak
