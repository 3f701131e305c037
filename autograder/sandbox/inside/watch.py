"""What a call changed besides its result: random state, torch's settings, torch's functions; and what it cost."""

from __future__ import annotations

import gc
import os
import random
import sys
import time
from typing import Any

import numpy
import torch

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]


def rng() -> tuple[Any, ...]:
    """The state of the three global random number generators, of torch, Python and NumPy, to be compared."""
    legacy = repr(numpy.random.get_state(legacy=False)["state"]), numpy.random.get_state()[1].tobytes()  # type: ignore
    return torch.get_rng_state().numpy().tobytes(), random.getstate(), *legacy


def settings() -> dict[str, Any]:
    """torch's process-wide settings, by the words a student would know them by."""
    return {
        "default dtype": torch.get_default_dtype(),
        "default device": str(torch.get_default_device()) if hasattr(torch, "get_default_device") else "",
        "grad mode": torch.is_grad_enabled(),
        "deterministic algorithms": torch.are_deterministic_algorithms_enabled(),
        "anomaly detection": torch.is_anomaly_enabled(),
        "number of threads": torch.get_num_threads(),
        "float32 matmul precision": torch.get_float32_matmul_precision(),
    }


def library() -> dict[str, int]:
    """Identity of every callable a student could replace in torch."""
    places = {"torch": torch, "torch.Tensor": torch.Tensor, "torch.nn": torch.nn,
              "torch.nn.functional": torch.nn.functional, "torch.nn.Module": torch.nn.Module,
              "torch.nn.Linear": torch.nn.Linear}  # fmt: skip
    return {f"{place}.{name}": id(_inner(value)) for place, holder in places.items()
            for name, value in vars(holder).items() if callable(value)}  # fmt: skip


def _inner(value: Any) -> Any:
    """A function without what torch itself wraps round it: the first optimizer does so to `torch.manual_seed`."""
    file = getattr(getattr(value, "__code__", None), "co_filename", "")
    return getattr(value, "__wrapped__", value) if file.startswith(os.path.dirname(torch.__file__) + os.sep) else value


def replaced(before: dict[str, int]) -> list[str]:
    """Names of torch's callables that are others than in `before`, of `library`, sorted."""
    now = library()
    return sorted(name for name, identity in before.items() if now.get(name, identity) != identity)


class Meter:
    """Time and memory of what runs inside the `with`. Memory is the growth of the resident peak."""

    def __enter__(self) -> Meter:
        gc.collect()
        _reset_peak()
        self.base = _status("VmRSS")
        self.cpu, self.wall = time.process_time(), time.perf_counter()
        return self

    def __exit__(self, *_: object) -> None:
        self.cpu_s, self.wall_s = time.process_time() - self.cpu, time.perf_counter() - self.wall
        self.peak_bytes = max(_status("VmHWM") - self.base, 0)


def _reset_peak() -> None:
    try:
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")
    except OSError:
        return  # no /proc: the peak is then that of the whole process, an upper bound


def _status(field: str) -> int:
    try:
        with open("/proc/self/status") as file:
            line = next(line for line in file if line.startswith(field + ":"))
        return int(line.split()[1]) << 10
    except (OSError, StopIteration):
        if resource is None:
            return 0
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak << 10  # macOS counts bytes
