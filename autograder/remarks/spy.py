"""Counts at which lines a call does what, where the student's code runs. A box could lie: no points depend on it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from autograder.checks.properties._spy import run_between

SPY = '''
import sys

import torch
from torch.utils._python_dispatch import TorchDispatchMode

PRODUCTS = {"mm", "bmm", "addmm", "baddbmm", "_softmax"}


class Calls(TorchDispatchMode):
    """How many operations at which lines, and which products of the same tensors were made before."""

    @classmethod
    def _should_skip_dynamo(cls):
        return False  # else torch loads its compiler first: two seconds in every box

    def __init__(self):
        super().__init__()
        self.lines, self.again, self.seen, self.kept = {}, {}, {}, []

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        out = function(*args, **(kwargs or {}))
        at = places()
        for place in at:
            self.lines[place] = self.lines.get(place, 0) + 1
        if function.overloadpacket.__name__ in PRODUCTS and at:
            self.compare(function.overloadpacket.__name__, args, at[0])
        return out

    def compare(self, name, args, place):
        given = [one for one in args if isinstance(one, torch.Tensor)]
        key = (name, *map(identity, given), *(one for one in args if isinstance(one, int)))
        if key in self.seen:
            pair = f"{self.seen[key]} {place}"
            self.again[pair] = self.again.get(pair, 0) + 1
        self.seen.setdefault(key, place)
        self.kept += given  # so that no other tensor gets their memory


def places():
    """The functions of the student's that are running, innermost first: name, first line, and the line they are at."""
    found, frame = [], sys._getframe(2)
    while frame is not None:
        code = frame.f_code
        if frame.f_globals.get("__name__") == "__main__" and not code.co_name.startswith("<"):
            found.append(f"{code.co_name}:{code.co_firstlineno}:{frame.f_lineno}")
        frame = frame.f_back
    return list(dict.fromkeys(found))


def identity(tensor):
    return tensor.data_ptr(), tensor._version, tuple(tensor.shape), tuple(tensor.stride())


modes = []


def remarks_begin():
    modes[:] = [Calls()]
    modes[0].__enter__()


def remarks_end():
    modes[0].__exit__(None, None, None)
    return {"lines": modes[0].lines, "again": modes[0].again}
'''

MOST_PLACES = 500  # that are read; more lines than that make no operations in an answer that a person wrote
PLACE = r"\w+:\d{1,7}:\d{1,7}"


@dataclass(frozen=True)
class Count:
    """lines: place → how many of torch's operations were made, of each function that was running;
    again: two places, with a space between → how many products were made at the second of the same tensors as at the
    first. A place is `function:its first line:line`."""

    lines: Mapping[str, int] = field(default_factory=dict)
    again: Mapping[str, int] = field(default_factory=dict)


def count_calls(subject: Any, action: Callable[[], object]) -> Count:
    """What the action makes of torch's operations, and where. Raises StudentError."""
    report = run_between(subject, SPY, ("remarks_begin", "remarks_end"), action)
    report = report if isinstance(report, dict) else {}
    return Count(_numbers(report.get("lines"), PLACE), _numbers(report.get("again"), f"{PLACE} {PLACE}"))


def _numbers(value: Any, places: str) -> dict[str, int]:
    """The numbers of a report, whose keys are places; none of one that is longer than an answer makes it."""
    pairs = value.items() if isinstance(value, dict) and len(value) <= MOST_PLACES else ()
    return {key: number for key, number in pairs
            if isinstance(key, str) and type(number) is int and re.fullmatch(places, key)}  # fmt: skip
