"""Aligns two traces for a reader who steps through them: the student's lines, and a right answer's shapes.

Aligned by edit distance (Needleman and Wunsch 1970): equal values count most, then equal operations, then equal sizes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autograder.localize.align import KnownValues, key, sizes
from autograder.localize.location import FaultLocation
from autograder.localize.recorder import TEXT
from autograder.localize.trace import Trace
from autograder.localize.words import own_value, steps_of

MAX_STEPS = 40  # steps of either side
WALKED = 12  # steps whose values are kept, the last of them up to the line that departs
GAP_SCORE = -0.2


def steps(found: FaultLocation, sources: dict[str, str]) -> list[dict[str, Any]]:
    """A row per step: the student's line, its text and shape, a right answer's shape, whether the value is right, and
    the student's value itself on the way to the line that departs."""
    if found.trace is None or not found.right_traces:
        return []
    actual = steps_of(found.trace)[:MAX_STEPS]
    right = max(found.right_traces, key=lambda one: _common(found.trace, one))  # type: ignore[arg-type]
    expected = steps_of(right)[:MAX_STEPS]
    known = KnownValues(found.right_traces)
    walked = _walked(found, actual)
    # a right answer may compute the value that departs too, but goes on from it in another way
    departing = None if found.faulty_version is None else key(found.trace.values[found.faulty_version.version])
    rows: list[dict[str, Any]] = []
    for one, other in _aligned(found.trace, actual, right, expected):
        shape = None if other is None else _sizes(right, expected[other][1])
        if one is None:
            rows.append({"line": None, "text": "", "yours": None, "right": shape, "known": None, "value": None})
            continue
        line, version = actual[one]
        text = sources.get(found.trace.producer(version).cell, "").splitlines()[line - 1 : line]
        value = found.trace.values[version]
        kept = own_value(found.trace, version) if version in walked else None
        right_so_far = (
            known.has(value, turned=False) and not (found.sure and line == found.line) and key(value) != departing
        )
        rows.append({
            "line": line, "text": text[0].strip()[:200] if text else "", "yours": _sizes(found.trace, version),
            "right": shape, "known": right_so_far, "value": kept,
        })  # fmt: skip
    return rows


def _walked(found: FaultLocation, actual: Sequence[tuple[int, int]]) -> list[int]:
    """The versions of the last steps up to the line that departs; none where that is not sure or made no value. Of the
    lines before it only those that give a value a name or return it: of others the version is a part of an expression.
    """
    lines = [line for line, _ in actual]
    if not found.sure or found.trace is None or not (found.error or found.line in lines):
        return []
    end = len(lines) if found.error else lines.index(found.line) + 1  # the line that raised is the last
    nodes = ((line, version, found.trace.producer(version)) for line, version in actual[:end])
    return [version for line, version, node in nodes if node.name or node.returned or line == found.line][-WALKED:]


def _sizes(trace: Trace, version: int) -> list[int] | None:
    value = trace.values[version]
    return None if value.data is None or value.kind == TEXT else list(value.data.shape)


def _common(trace: Trace, other: Trace) -> int:
    return len({key(value) for value in trace.values} & {key(value) for value in other.values})


def _aligned(
    trace: Trace, actual: Sequence[tuple[int, int]], right: Trace, expected: Sequence[tuple[int, int]]
) -> list[tuple[int | None, int | None]]:
    """Pairs of indices, None if the other trace has no counterpart."""
    best = np.zeros((len(actual) + 1, len(expected) + 1))
    best[:, 0], best[0, :] = GAP_SCORE * np.arange(len(actual) + 1), GAP_SCORE * np.arange(len(expected) + 1)
    for i, (_, one) in enumerate(actual):
        for j, (_, other) in enumerate(expected):
            both = best[i, j] + _alike(trace, one, right, other)
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
