"""How near training comes to what the machine can do: operations of a step, and the rate of products alone."""

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
    """Adds up the operations of products and attention in `total`, as torch counts them. Its own counter watches
    modules as well, which a backward pass within a backward pass, Reformer's, does not allow."""

    total = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = func(*args, **(kwargs or {}))
        if count := flop_registry.get(func.overloadpacket):
            self.total += count(*args, **(kwargs or {}), out_val=out)
        return out


@torch.no_grad()
def operations_per_token(model: nn.Module, batch: dict[str, Tensor]) -> float:
    """Operations of training on one token of this batch: those of a forward pass, thrice (Chowdhery et al. 2022,
    arXiv:2204.02311, appendix B). What is computed twice to save memory counts once. One row is looked at, on the
    model's device; no random number is drawn."""
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
    """Operations a second that a square product reaches on this device, in that dtype: what MFU is a share of."""
    size = 8192 if device.type == "cuda" else 512
    a, b = (torch.randn(size, size, device=device, dtype=dtype) for _ in range(2))
    return 2 * size**3 / best_seconds(lambda: a @ b, device)


def best_seconds(do: Callable[[], Any], device: torch.device, turns: int = 5) -> float:
    """Of a few runs after one that warms up."""
    times = []
    for _ in range(turns + 1):
        synchronize(device)
        began = time.perf_counter()
        do()
        synchronize(device)
        times.append(time.perf_counter() - began)
    return min(times[1:])


def synchronize(device: torch.device) -> None:
    """Until a card has done what it was told; a CPU has."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def peak_memory(device: torch.device) -> int | None:
    """Bytes: the most that tensors had on a card, or that this process had of the machine's memory; None where the
    system does not tell (Windows)."""
    if device.type == "cuda":
        return torch.cuda.max_memory_allocated(device)
    if sys.platform == "win32":
        return None
    import resource

    unit = 1 if sys.platform == "darwin" else 1024
    return unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
