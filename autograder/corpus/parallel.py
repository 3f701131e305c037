"""Exercises that are measured at the same time, each in a process with one thread."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from typing import Any

import torch


def measure_each(names: Sequence[str], measure: Callable[[str], Any], workers: int) -> Iterator[tuple[str, Any]]:
    """Names and what `measure` says of them, each as soon as it is done; several at a time with workers."""
    if workers < 2:
        yield from ((name, measure(name)) for name in names)
        return
    with ProcessPoolExecutor(workers, get_context("spawn"), one_thread) as pool:
        waiting = {pool.submit(measure, name): name for name in names}
        try:
            yield from ((waiting[future], future.result()) for future in as_completed(waiting))
        finally:
            for future in waiting:
                future.cancel()


def one_thread() -> None:
    """Let torch use one thread in this process."""
    torch.set_num_threads(1)
