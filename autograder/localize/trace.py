"""Runs a subject on one question with rewritten definitions, and reads the recording.

A box may send anything: every number is checked against the table of nodes and the budgets before it is used, and a
recording that breaks a rule is rejected.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch

from autograder.checks.compare import RaisedError, agree
from autograder.checks.local import LocalSubject
from autograder.checks.probe import Probe, observe
from autograder.localize.instrument import EACH, ERROR, METHOD, TOUCH, VALUE, InstrumentedCode, Node
from autograder.localize.recorder import CALLERS, DTYPES, EVENTS, LARGEST, NUMBERS, OPAQUE, PLAIN, TENSOR, TEXT
from autograder.sandbox.client import Cell, SandboxClient, StudentError

BEGIN, END, SWAP = "_trace_begin", "_trace_end", "_trace_swap"
AXES = 8
OPERANDS = 64  # events of one node that are read
SECONDS = 2.0  # of the box's processor for the definitions, and for each call: a guard, as the recorder counts
BYTES = NUMBERS + 24 * EVENTS  # a reply may be a few times as large


class BadTrace(ValueError):
    """The recording is invalid."""


@dataclass
class Value:
    """The value of a version of an object."""

    kind: int
    dtype: int
    grad: bool
    event: int  # that made it
    before: int  # the previous version of the same object, -1 if it is new
    data: np.ndarray | None  # float64, or None if it was not kept
    key: tuple | None = None  # of `align.key`

    @property
    def size(self) -> int:
        """The number of its entries; 0 if they were not kept."""
        return 0 if self.data is None else self.data.size

    @property
    def dtype_name(self) -> str:
        """`float32`; "" if it is not a tensor."""
        return str(DTYPES[self.dtype]).removeprefix("torch.") if self.kind == TENSOR else ""


@dataclass
class Event:
    """A node gave a version of a value, in a call of a function."""

    node: int
    frame: int
    version: int


@dataclass
class Trace:
    """The values that one subject computed on the way to an answer."""

    table: InstrumentedCode
    events: list[Event]
    values: list[Value]
    errors: list[int] = field(default_factory=list)  # the statement that raised, if any, and those that called it
    operands: dict[int, list[int]] = field(default_factory=dict)  # event -> versions that it used

    @property
    def error(self) -> int | None:
        """The statement that raised, if any."""
        return self.errors[0] if self.errors else None

    def node(self, event: int) -> Node:
        """The node of an event."""
        return self.table.nodes[self.events[event].node]

    def producer(self, version: int) -> Node:
        """The node that made a version."""
        return self.node(self.values[version].event)


@cache
def _recorder() -> str:
    return (Path(__file__).parent / "recorder.py").read_text(encoding="utf-8")


def trace_answer(subject: Any, table: InstrumentedCode, probe: Probe) -> tuple[Trace, Any]:
    """The trace of the subject's answer to a question, and the answer.

    Raises BadTrace or StudentError if the recording is invalid or the code fails.
    """
    with _short_calls(subject) as inner:
        subject.bind(_recorder(), [VALUE, METHOD, TOUCH, EACH, ERROR, BEGIN, END, SWAP])
        _define(inner, table.source)
    return trace_again(subject, table, probe)


def trace_again(subject: Any, table: InstrumentedCode, probe: Probe) -> tuple[Trace, Any]:
    """As `trace_answer`, where that was called before with the same definitions."""
    with _short_calls(subject) as inner:
        try:
            inner.call(BEGIN, table.nodes_of("load"), table.nodes_of("constant"))
            answer = observe(subject, probe)
            inner.limit_answer(BYTES)
            trace = read(table, inner.call(END))
        finally:
            inner.limit_answer(None)
    if not isinstance(answer, RaisedError):
        trace.errors.clear()  # the code caught what it raised
    return trace, answer


def repairs(subject: Any, probe: Probe, swaps: Sequence[tuple[int, int, torch.Tensor]], expected: Any) -> bool:
    """Whether the traced subject answers as expected if these values take the place of its own.

    `swaps`: (node, the n-th time that it is reached, the value).
    """
    nodes, times, values = (list(one) for one in zip(*swaps, strict=True))
    with _short_calls(subject) as inner:
        try:
            inner.call(SWAP, nodes, times, values)
            return agree(expected, observe(subject, probe), probe.tolerance)
        except StudentError:
            return False
        finally:
            with suppress(StudentError):  # the box may have ended
                inner.call(SWAP, [], [], [])


@contextmanager
def _short_calls(subject: Any) -> Iterator[Any]:
    """The code itself, each call of which may take SECONDS in the block; code in this process has no limits."""
    inner = getattr(subject, "subject", subject)
    before = getattr(inner, "limits", None)
    if before is None:
        yield inner
        return
    inner.limits = replace(before, call_s=min(before.call_s, SECONDS))
    try:
        yield inner
    finally:
        inner.limits = before


def _define(subject: Any, source: str) -> None:
    if isinstance(subject, LocalSubject):
        exec(compile(source, "<rewritten>", "exec", dont_inherit=True), subject.namespace)
        return
    assert isinstance(subject, SandboxClient)
    (outcome,) = subject.run_cells([Cell("rewritten", source)], SECONDS)
    if outcome.error:
        raise BadTrace(f"the rewritten definitions do not run: {outcome.error}")


def read(table: InstrumentedCode, reply: Any) -> Trace:
    """The trace in a recorder's output. Raises BadTrace for invalid output."""
    if type(reply) is not list or len(reply) != 4 or type(reply[3]) is not list:
        raise BadTrace("not a trace")
    events = _integers(reply[0], 3 * EVENTS)
    rows, numbers = _integers(reply[1], 24 * EVENTS * 4), _floats(reply[2])
    if events.ndim != 2 or events.shape[1] != 3 or rows.ndim != 1:
        raise BadTrace("events of another form")
    values = list(_values(rows, numbers, len(events)))
    if len(events) and not (_within(events[:, 0], len(table.nodes)) and _within(events[:, 2], len(values))):
        raise BadTrace("an unknown node or version")
    lines = [table.statements.get(line) if type(line) is int else None for line in reply[3][:CALLERS]]
    trace = Trace(table, [Event(*map(int, row)) for row in events], values)
    trace.errors = [statement for statement in lines if statement is not None]
    trace.operands = _operands(trace)
    return trace


def _integers(values: Any, most: int) -> np.ndarray:
    if not isinstance(values, torch.Tensor) or values.dtype != torch.int64 or values.numel() > most or values.dim() > 2:
        raise BadTrace("not whole numbers")
    return values.detach().cpu().numpy()


def _floats(values: Any) -> np.ndarray:
    if (
        not isinstance(values, torch.Tensor)
        or values.dtype != torch.float64
        or values.dim() != 1
        or values.numel() > NUMBERS
    ):
        raise BadTrace("not numbers")
    return values.detach().cpu().numpy()


def _within(numbers: np.ndarray, most: int) -> bool:
    return bool((numbers >= 0).all() and (numbers < most).all())


def _values(rows: np.ndarray, numbers: np.ndarray, events: int) -> Any:
    """Each version; a row is its length, kind, dtype, grad, event, version before, start, axes, sizes."""
    at = count = 0
    while at < len(rows):
        length = int(rows[at])
        row = [int(one) for one in rows[at + 1 : at + 1 + length]]
        if not 7 <= length <= 7 + AXES or len(row) != length:
            raise BadTrace("an invalid version")
        kind, dtype, grad, event, before, start, axes, *sizes = row
        if kind not in (OPAQUE, TENSOR, PLAIN, TEXT) or not 0 <= event < max(events, 1) or not -1 <= before < count:
            raise BadTrace("a version without a value")
        if kind in (TENSOR, PLAIN) and not 0 <= dtype < len(DTYPES):
            raise BadTrace("an unknown type")
        data = _array(numbers, start, axes, sizes) if kind != OPAQUE and start >= 0 else None
        yield Value(kind, dtype, grad == 1, event, before, data)
        at, count = at + 1 + length, count + 1


def _array(numbers: np.ndarray, start: int, axes: int, sizes: list[int]) -> np.ndarray:
    if axes != len(sizes) or any(not 0 <= size <= LARGEST for size in sizes):
        raise BadTrace("invalid sizes")
    count = 1
    for size in sizes:
        count *= size
    if count > LARGEST or start + count > len(numbers):
        raise BadTrace("more numbers than the sizes allow")
    return numbers[start : start + count].reshape(sizes)


def _operands(trace: Trace) -> dict[int, list[int]]:
    """For each event the latest versions of its node's operands, if possible from the same function call."""
    here: dict[tuple[int, int], int] = {}
    anywhere: dict[int, int] = {}
    since: dict[int, list[int]] = {}
    found: dict[int, list[int]] = {}
    for index, event in enumerate(trace.events):
        node = trace.table.nodes[event.node]
        used = [here.get((event.frame, one), anywhere.get(one, -1)) for one in node.single_operands[:OPERANDS]]
        for one in node.repeated_operands[:OPERANDS]:
            used += since.pop(one, [])
        before = trace.events[index - 1] if index else None
        if before is not None and before.frame != event.frame and trace.table.nodes[before.node].returned:
            used.append(before.version)  # a number that a function returned is new to its caller
        found[index] = list(dict.fromkeys(version for version in used if version >= 0))
        here[event.frame, event.node] = anywhere[event.node] = event.version
        since.setdefault(event.node, []).append(event.version)
    return found
