"""Counts what a call does, where the student's code runs. A box could lie about it, so no points depend on it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

SPY = '''
import torch
from torch.utils._python_dispatch import TorchDispatchMode

PRODUCTS = {"mm", "bmm", "addmm", "baddbmm", "_softmax"}


class Calls(TorchDispatchMode):
    """How many operations, and how many products of the same tensors were made before."""

    @classmethod
    def _should_skip_dynamo(cls):
        return False  # else torch loads its compiler first: two seconds in every box

    def __init__(self):
        super().__init__()
        self.calls, self.again, self.seen, self.kept = 0, 0, set(), []

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        out = function(*args, **(kwargs or {}))
        self.calls += 1
        if function.overloadpacket.__name__ in PRODUCTS:
            given = [one for one in args if isinstance(one, torch.Tensor)]
            numbers = [one for one in args if isinstance(one, int)]
            key = (function.overloadpacket.__name__, *map(identity, given), *numbers)
            self.again += key in self.seen
            self.seen.add(key)
            self.kept += given  # so that no other tensor gets their memory
        return out


def identity(tensor):
    return tensor.data_ptr(), tensor._version, tuple(tensor.shape), tuple(tensor.stride())


modes = []


def remarks_begin():
    modes[:] = [Calls()]
    modes[0].__enter__()


def remarks_end():
    modes[0].__exit__(None, None, None)
    return {"calls": modes[0].calls, "again": modes[0].again}
'''


def count_calls(subject: Any, action: Callable[[], object]) -> dict[str, int]:
    """`calls`: how many of torch's operations the action makes; `again`: how many products that were made before."""
    subject.bind(SPY, ["remarks_begin", "remarks_end"])
    subject.call("remarks_begin")
    try:
        action()
    finally:
        report = subject.call("remarks_end")
    return {name: value for name, value in report.items() if type(value) is int} if isinstance(report, dict) else {}
