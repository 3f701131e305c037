"""Aligns two traces for a reader who steps through them: the student's lines, and a right answer's shapes.

Aligned by edit distance (Needleman and Wunsch 1970): equal values count most, then equal operations, then equal sizes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from autograder.localize.align import KnownValues, key, sizes
from autograder.localize.location import FaultLocation
from autograder.localize.recorder import TEXT
from autograder.localize.trace import Trace, Value
from autograder.localize.words import own_value

MAX_STEPS = 40  # steps of either side
WALKED = 12  # steps whose values are kept, the last of them up to the line that departs
GAP_SCORE = -0.2


@dataclass
class LineStep:
    """A line that made a value: the last one before another line ran, of the first time that the line ran."""

    cell: str
    line: int  # of that cell, from 1
    version: int
    nodes: set[int]  # those of its values
    again: bool = False  # whether the line ran again later

    @property
    def place(self) -> tuple[str, int]:
        """The cell and the line."""
        return self.cell, self.line


def steps(found: FaultLocation, sources: dict[str, str]) -> list[dict[str, Any]]:
    """A row per step: the student's line with its cell, its text and shape, a right answer's shape, whether the value
    is right, whether the line ran again, and the student's value itself on the way to the line that departs."""
    if found.trace is None or not found.right_traces:
        return []
    actual = steps_of(found.trace)[:MAX_STEPS]
    right = max(found.right_traces, key=lambda one: _common(found.trace, one))  # type: ignore[arg-type]
    expected = steps_of(right)[:MAX_STEPS]
    known = found.right_traces.values()
    end = _end(found, actual)
    walked = _walked(found, actual[:end])
    rows: list[dict[str, Any]] = []
    for one, other in _aligned(found.trace, actual, right, expected):
        shape = None if other is None else _sizes(right.values[expected[other].version])
        if one is not None and found.sure and actual[one].place == (found.cell, found.line):
            shape = _wanted(found)  # the step beside it may be another one
        if one is None:
            rows.append({"cell": None, "line": None, "text": "", "yours": None, "right": shape, "known": None,
                         "again": False, "value": None})  # fmt: skip
        else:
            right_so_far = _is_right(found, actual[one], one < end, known)
            kept = own_value(found.trace, actual[one].version) if actual[one].version in walked else None
            rows.append(
                _row(found.trace, actual[one], sources) | {"right": shape, "known": right_so_far, "value": kept}
            )
    return rows


def _row(trace: Trace, step: LineStep, sources: dict[str, str]) -> dict[str, Any]:
    """What a row says of the student's line alone."""
    text = sources.get(step.cell, "").splitlines()[step.line - 1 : step.line]
    return {
        "cell": step.cell, "line": step.line, "text": text[0].strip()[:200] if text else "",
        "yours": _sizes(trace.values[step.version]), "again": step.again,
    }  # fmt: skip


def _end(found: FaultLocation, actual: Sequence[LineStep]) -> int:
    """How many steps there are up to the line that departs, and with it; 0 where that is not sure or made no value."""
    places = [step.place for step in actual]
    if found.sure and found.error:  # the line that raised is the last
        return len(actual)
    return places.index((found.cell, found.line)) + 1 if found.sure and (found.cell, found.line) in places else 0


def _wanted(found: FaultLocation) -> list[int] | None:
    """The shape of the value that belongs where the answer departs; None where no right answer has one for it."""
    right = None if found.faulty_version is None else found.faulty_version.replacement
    return None if right is None else _sizes(right)


def _is_right(found: FaultLocation, step: LineStep, before: bool, known: KnownValues) -> bool:
    """Whether a right answer has the value of this step; not at the line that departs. `before`: on the way to it.

    Elsewhere a value that equals the one that departs is not called right: a right answer may compute it too, but goes
    on from it in another way.
    """
    assert found.trace is not None
    value = found.trace.values[step.version]
    if not known.has(value, turned=False) or (found.sure and step.place == (found.cell, found.line)):
        return False
    return before or found.faulty_version is None or key(value) != key(found.trace.values[found.faulty_version.version])


def _walked(found: FaultLocation, actual: Sequence[LineStep]) -> list[int]:
    """The versions of the last of these steps in the cell of the line that departs. Of the lines before it only those
    that give a value a name or return it: of others the version is a part of an expression."""
    assert found.trace is not None
    here = [step for step in actual if step.cell == found.cell]
    return [step.version for step in here if step.line == found.line or _is_whole(found.trace, step.version)][-WALKED:]


def _is_whole(trace: Trace, version: int) -> bool:
    """Whether it is what a statement gives a name or returns, and not a part of that."""
    return bool(trace.producer(version).name or trace.producer(version).returned)


def steps_of(trace: Trace) -> list[LineStep]:
    """The lines that made a value, in order of time."""
    found: dict[tuple[str, int], LineStep] = {}
    for version, value in enumerate(trace.values):
        if not _is_shown(trace, value):
            continue
        node, number = trace.node(value.event), trace.events[value.event].node
        step = found.setdefault((node.cell, node.line), LineStep(node.cell, node.line, version, {number}))
        goes_on = step is next(reversed(found.values()))  # no other line ran in between
        if _is_whole(trace, step.version) and not (goes_on and number not in step.nodes):
            step.again |= value.event != trace.values[step.version].event
        elif goes_on or number not in step.nodes:  # after a call, the line that it stands in goes on
            found[step.place] = found.pop(step.place)
            step.version = version
        step.nodes.add(number)
    return list(found.values())


def _is_shown(trace: Trace, value: Value) -> bool:
    """Whether a value is something that a line made, and more than a number."""
    node = trace.node(value.event)
    is_input = node.operation in ("constant", "each", "__init__") or (node.operation == "load" and value.before < 0)
    return value.data is not None and not is_input and (value.data.size > 1 or value.kind == TEXT)


def _sizes(value: Value) -> list[int] | None:
    return None if value.data is None or value.kind == TEXT else list(value.data.shape)


def _common(trace: Trace, other: Trace) -> int:
    return len({key(value) for value in trace.values} & {key(value) for value in other.values})


def _aligned(
    trace: Trace, actual: Sequence[LineStep], right: Trace, expected: Sequence[LineStep]
) -> list[tuple[int | None, int | None]]:
    """Pairs of indices, None if the other trace has no counterpart."""
    best = np.zeros((len(actual) + 1, len(expected) + 1))
    best[:, 0], best[0, :] = GAP_SCORE * np.arange(len(actual) + 1), GAP_SCORE * np.arange(len(expected) + 1)
    for i, one in enumerate(actual):
        for j, other in enumerate(expected):
            both = best[i, j] + _alike(trace, one.version, right, other.version)
            best[i + 1, j + 1] = max(both, best[i, j + 1] + GAP_SCORE, best[i + 1, j] + GAP_SCORE)
    return _path(best)


def _alike(trace: Trace, one: int, right: Trace, other: int) -> float:
    a, b = trace.values[one], right.values[other]
    if key(a) == key(b):
        return 3.0
    same = trace.producer(one).operation == right.producer(other).operation
    return 1.0 * same + 0.5 * (sizes(a) == sizes(b)) - 0.5


def _path(best: np.ndarray) -> list[tuple[int | None, int | None]]:
    i, j = best.shape[0] - 1, best.shape[1] - 1
    found: list[tuple[int | None, int | None]] = []
    while i or j:
        if i and np.isclose(best[i, j], best[i - 1, j] + GAP_SCORE):
            i -= 1
            found.append((i, None))
        elif j and np.isclose(best[i, j], best[i, j - 1] + GAP_SCORE):
            j -= 1
            found.append((None, j))
        else:
            i, j = i - 1, j - 1
            found.append((i, j))
    return found[::-1]
