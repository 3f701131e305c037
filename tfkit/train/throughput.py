"""Measures how close training comes to the machine's limit: operations per step, and the rate of matrix products
alone."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import flop_registry


class CountedOperations(TorchDispatchMode):
    """Adds up the operations of matrix products and attention in `total`, by torch's formulas. Torch's own counter also
    tracks modules, which fails for a backward pass within a backward pass (Reformer)."""

    total = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = func(*args, **(kwargs or {}))
        if func.overloadpacket is getattr(torch.ops.aten, "_grouped_mm", None):
            self.total += grouped_mm_operations(*args[:2])
        elif count := flop_registry.get(func.overloadpacket):
            given = repeat_kv_heads(args) if "attention" in func.overloadpacket.__name__ else args
            self.total += count(*given, **(kwargs or {}), out_val=out)
        return out


def grouped_mm_operations(a: Tensor, b: Tensor) -> int:
    """Operations of a product in groups, for which torch has no formula: a [R,I], whose rows are divided among the
    matrices b [N,I,O]; or, in a backward pass, a [I,R] and b [R,O], whose columns and rows are."""
    return 2 * a.numel() * b.size(-1)


def repeat_kv_heads(args: Any) -> list[Any]:
    """Attention's arguments, with as many heads of keys and values as of queries: torch's formulas (2.11) refuse the
    grouped heads that its kernels take."""
    is_heads = lambda x: isinstance(x, Tensor) and x.dim() == 4  # [B,H,L,D]
    heads = max((x.size(1) for x in args if is_heads(x)), default=0)
    whole = lambda x: x.new_empty(x.size(0), heads, *x.shape[2:], device="meta")
    return [whole(x) if is_heads(x) and x.size(1) < heads else x for x in args]


@torch.no_grad()
def operations_per_token(model: nn.Module, batch: dict[str, Tensor]) -> float:
    """The operations of training on one token of this batch: three times those of a forward pass (Chowdhery et al.
    2022, arXiv:2204.02311, appendix B). Recomputation to save memory is not counted. It runs one row on the model's
    device and draws no random number."""
    device, training = next(model.parameters()).device, model.training
    row = {name: tensor[:1].to(device) for name, tensor in batch.items()}
    model.eval()
    try:
        with CountedOperations() as counted:
            model(**row)
    finally:
        model.train(training)
    return 3 * counted.total / row["input_ids"].numel()


def product_rate(device: torch.device, dtype: torch.dtype) -> float:
    """Operations per second of a square matrix product on this device in this dtype, the reference rate for MFU."""
    size = 8192 if device.type == "cuda" else 512
    a, b = (torch.randn(size, size, device=device, dtype=dtype) for _ in range(2))
    return 2 * size**3 / best_seconds(lambda: a @ b, device)


def best_seconds(do: Callable[[], Any], device: torch.device, turns: int = 5) -> float:
    """The best time of several runs after one warm-up."""
    times = []
    for _ in range(turns + 1):
        synchronize(device)
        began = time.perf_counter()
        do()
        synchronize(device)
        times.append(time.perf_counter() - began)
    return min(times[1:])


def synchronize(device: torch.device) -> None:
    """Waits until a GPU has finished its queued work; does nothing on a CPU."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def peak_memory(device: torch.device) -> int | None:
    """Peak memory in bytes: of tensors on a GPU, or of this process on a CPU; None if the system does not report it
    (Windows)."""
    if device.type == "cuda":
        return torch.cuda.max_memory_allocated(device)
    if sys.platform == "win32":
        return None
    import resource

    unit = 1 if sys.platform == "darwin" else 1024
    return unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
