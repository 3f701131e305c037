"""Describes a departing line in a sentence: how its value is related to the value that it should have.

It shows the student's own value, and only a relation to the right one, as the messages of the checks do.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from itertools import permutations
from typing import Any

import numpy as np
import torch

from autograder.diagnosis.transformations import TENSORS
from autograder.exercises.parse import parse_source
from autograder.feedback.translate import say
from autograder.localize.align import TOLERANCE, factor
from autograder.localize.instrument import Node
from autograder.localize.location import FaultLocation
from autograder.localize.recorder import FLOATS, PLAIN, TENSOR, TEXT
from autograder.localize.runs import Decision
from autograder.localize.trace import Trace, Value

LARGEST = 8  # rows and columns of the matrix that is shown
LONGEST_ERROR, MOST_NAMES = 200, 6  # characters of an error's message; names in the line that raised
LONGEST_QUOTE = 48  # characters of a part of a line
CLOSE = 1e-4
MIN_DISTINCT = 4  # entries of a value that is called shifted


def sentence(found: FaultLocation, source: str = "") -> str:
    """What is wrong at the line, without the line's number, in the reader's language; "" if nothing is known.

    source: of the cell, from which a part of the line without a name is quoted."""
    trace, faulty = found.trace, found.faulty_version
    if trace is None:
        return say("the parameters that do not match are created here")
    purity = found.finding is not None and found.finding.check.property == "purity"
    if purity and found.event is not None:
        return say("this changes {it}, which the caller still needs", it=_changed_by(trace, found.event, source))
    if purity and found.inside:
        return say("this call of `{operation}` changes what the caller still needs, in the code of another cell",
                   operation=found.inside)  # fmt: skip
    if found.inside_right:
        return say("what this call of `{operation}` passes is wrong: with right code in the other cell the values"
                   " are the same", operation=found.inside)  # fmt: skip
    if found.inside:
        return say("the values go wrong inside this call of `{operation}`: by what is passed to it, or in the code of"
                   " another cell", operation=found.inside)  # fmt: skip
    if trace.error is not None and found.error and found.decision:
        return f"{_stops(found)}; {_told(found.decision, source)}"
    if found.decision:
        return _told(found.decision, source)
    if found.misused:
        return say("this call of `{operation}` goes wrong, while the code that it calls is right in its other calls",
                   operation=found.misused)  # fmt: skip
    if found.built:
        return say("`{part}`, which is made here, gives another value for the same input than right answers' does",
                   part=found.built)  # fmt: skip
    if trace.error is not None and (found.error or faulty is None):
        return _stops(found)
    if faulty is None:
        return say("all values up to here are right; this is the first step that no right answer takes")
    it = name_of(trace, trace.values[faulty.version].event, source)
    if faulty.unfinished:
        text = "{it} is right so far, but no right answer continues like this: a step is missing or superfluous"
        return say(text, it=it if faulty.event is None else name_of(trace, faulty.event, source))
    if faulty.event is not None:
        operation = trace.node(faulty.event).operation
        return say("this call of `{operation}` leaves out an argument that it should pass", operation=operation)
    actual, expected = trace.values[faulty.version], faulty.replacement
    if expected is None or expected.data is None or actual.data is None:
        return say("{it} is the first value that no right answer computes; its inputs are right", it=it)
    if found.larger is not None and not relation_phrase(found) and (known := relation_phrase(found.larger)):
        return say("{it} is not what it should be; on a larger input it {relation}", it=it, relation=known)
    return f"{it} {describe_relation(actual, expected, _rules(found), _counts_rows(found))}"


def _told(decision: Decision, source: str) -> str:
    """The change that makes the answer right."""
    told = decision.says(decision.runs)
    if decision.version is None:
        return told
    trace = decision.runs[0].trace
    return f"{name_of(trace, trace.values[decision.version].event, source)} {told}"


def _stops(found: FaultLocation) -> str:
    """The error, and which of the names in the line had which shape."""
    stops = say("the code stops with an error here")
    message = f": {found.error[:LONGEST_ERROR].rstrip('.')}" if found.error else ""
    values = ", ".join(_values_at(found))
    return f"{stops}{message}; {say('at that time {values}', values=values)}" if values else f"{stops}{message}"


def _values_at(found: FaultLocation) -> list[str]:
    """What the names in the line that raised stood for: `x` has shape 2 × 3 × 4."""
    trace = found.trace
    assert trace is not None and trace.error is not None
    last = {event.node: event.version for event in trace.events}
    stack, visited, told = [trace.error], {trace.error}, dict[str, str]()
    while stack:
        number = stack.pop()
        node = trace.table.nodes[number]
        value = trace.values[last[number]] if number in last else None
        if node.operation == "load" and node.text.isidentifier() and (told_as := _shown_as(node.text, value)):
            told.setdefault(node.text, told_as)
        inside = [one for one in (*node.single_operands, *node.repeated_operands) if one not in visited]
        visited.update(inside)
        stack += reversed(inside)
    return list(told.values())[:MOST_NAMES]


def _shown_as(name: str, value: Value | None) -> str:
    """The shape of a tensor, or a number; "" for anything else."""
    if value is None or value.data is None:
        return ""
    if value.kind == TENSOR:
        return say("`{name}` has shape {shape}", name=name, shape=_sizes(value.data.shape))
    if value.kind == PLAIN and value.data.ndim == 0:
        return say("`{name}` is {value}", name=name, value=f"{value.data.item():g}")
    return ""


def _sizes(shape: tuple[int, ...]) -> str:
    return " × ".join(map(str, shape)) or say("one number")


def name_of(trace: Trace, event: int, source: str) -> str:
    """What made a value: a name or a call, or else the expression as it stands in the line."""
    node = trace.node(event)
    if node.name:
        return f"`{node.name}`"
    if node.returned:
        return say("the value returned here")
    if node.is_call and node.operation.isidentifier() and node.operation[:1].islower():
        return say("the result of `{operation}` here", operation=node.operation)
    text = _entry_of(trace, event) or node.text or quote_of(node, source)
    return f"`{text}`" if text else say("the value computed here")


def _entry_of(trace: Trace, event: int) -> str:
    """`x.shape[-1]`, where that one size of the shape is what is used; "" of anything else."""
    number = trace.events[event].node
    if trace.table.nodes[number].operation != "shape":
        return ""
    taking = (node for node in trace.table.nodes if node.operation == "Subscript" and number in node.single_operands)
    return next((node.text for node in taking if len(node.text) <= LONGEST_QUOTE), "")


def _changed_by(trace: Trace, event: int, source: str) -> str:
    """The name of the object that is changed, also by a method that returns something else."""
    before = trace.values[trace.events[event].version].before
    taken = None if before < 0 else trace.producer(before)
    if taken is not None and taken.operation == "load" and taken.text.isidentifier():
        return f"`{taken.text}`"
    return name_of(trace, event, source)


def quote_of(node: Node, source: str) -> str:
    """The expression as it stands in its line; "" for a long one, or one of several lines."""
    first, begin, last, end = node.span
    lines = source.splitlines()
    if first != last or not 1 <= first <= len(lines):
        return ""
    text = lines[first - 1].encode()[begin:end].decode(errors="replace")  # columns of `ast` count bytes
    return text if len(text) <= LONGEST_QUOTE and "`" not in text else ""


def describe_relation(
    actual: Value, expected: Value, rules: Sequence[Relation] | None = None, counted: bool = True
) -> str:
    """`is 2.83 times what it should be; each row differs`: how one value is related to another.

    `rules`: the relations that may be told, all of them if not given; `counted`: whether the rows that differ are."""
    a, b = actual.data, expected.data
    assert a is not None and b is not None
    if a.shape != b.shape:
        if sorted(a.shape) == sorted(b.shape) and is_transpose_of(a, b):
            return say("has its axes in the wrong order: its shape is {shape}", shape=list(a.shape))
        return say("has the wrong shape, {shape}", shape=list(a.shape))
    if _same(a, b, actual):
        return _form(actual, expected)
    told = relation(actual, expected, rules) or say("is not what it should be")
    return told if _triangle(actual, expected) or not counted else f"{told}{rows(a, b, actual)}"


def relation(actual: Value, expected: Value, rules: Sequence[Relation] | None = None) -> str:
    """How a value follows from the right one of the same shape; "" if no known relation fits."""
    found = (rule(actual, expected) for rule in (RELATIONS if rules is None else rules))
    return next(filter(None, found), "")


def _is_constant(value: Value) -> bool:
    data = value.data
    return data is not None and data.size > 1 and bool((data == data.flat[0]).all())


def _rules(found: FaultLocation) -> Sequence[Relation]:
    """The relations that may be told: those that hold on the larger input as well, where this is the input shown. What
    an object from outside makes is not the right value transformed, whatever it does itself. One number throughout
    follows from many values, so that a relation to the right one would say nothing."""
    pair = _same_shaped(found)
    if pair is not None and _is_constant(pair[0]):
        return []
    rules = [rule for rule in RELATIONS if rule is not _transformed or not _called_from_outside(found)]
    if found.larger is None:
        return rules
    larger = _same_shaped(found.larger)
    return [] if larger is None else [rule for rule in rules if rule(*larger)]


def _same_shaped(found: FaultLocation) -> tuple[Value, Value] | None:
    """The student's value and the right one, if both are numbers of one shape."""
    if found.trace is None or found.faulty_version is None or found.faulty_version.replacement is None:
        return None
    actual, expected = found.trace.values[found.faulty_version.version], found.faulty_version.replacement
    if actual.data is None or expected.data is None or actual.data.shape != expected.data.shape:
        return None
    return actual, expected


def _called_from_outside(found: FaultLocation) -> bool:
    """Whether the value is what an argument returned that was called: a function, or a module."""
    trace, faulty = found.trace, found.faulty_version
    if trace is None or faulty is None or not trace.producer(faulty.version).is_call:
        return False
    arguments = {node.arg for node in ast.walk(parse_source(trace.table.source)) if isinstance(node, ast.arg)}
    return trace.producer(faulty.version).operation in arguments


def _counts_rows(found: FaultLocation) -> bool:
    """Whether it may be told how many rows differ: that each does, only if so on the larger input as well."""
    if not _has_one_right(found):
        return False
    return found.larger is None or _all_rows_differ(found) == _all_rows_differ(found.larger)


def _all_rows_differ(found: FaultLocation) -> bool:
    pair = _same_shaped(found)
    wrong = None if pair is None else _wrong_entries(*pair)
    return wrong is not None and wrong.ndim > 0 and bool(wrong.reshape(-1, wrong.shape[-1]).any(axis=1).all())


def _wrong_entries(actual: Value, expected: Value) -> np.ndarray:
    assert actual.data is not None and expected.data is not None
    return _differs(actual.data, expected.data, actual)


def _has_one_right(found: FaultLocation) -> bool:
    """Whether one right value alone can stand in this place. Truths on the way to a result are combined with others
    later, so that those that another one overrules may be as they like."""
    trace, faulty = found.trace, found.faulty_version
    if trace is None or faulty is None or trace.producer(faulty.version).returned:
        return True
    data = trace.values[faulty.version].data
    return data is None or not np.isin(data, (0, 1)).all()


def relation_phrase(found: FaultLocation) -> str:
    """`a value on the way …`: the relation alone, if it says more than that the value is wrong."""
    pair = _same_shaped(found)
    return "" if pair is None else relation(*pair, _rules(found))


def _same(a: np.ndarray, b: np.ndarray, like: Value) -> bool:
    return a.shape == b.shape and not _differs(a, b, like).any()


def _differs(a: np.ndarray, b: np.ndarray, like: Value) -> np.ndarray:
    with np.errstate(invalid="ignore"):
        same = (a == b) | (np.isnan(a) & np.isnan(b))
        tolerance = TOLERANCE.get(like.dtype, CLOSE) * np.abs(b[np.isfinite(b)]).max(initial=1e-6)
        return ~same & ~(np.abs(a - b) <= tolerance)


def _form(actual: Value, expected: Value) -> str:
    if actual.kind == expected.kind == TENSOR and actual.dtype != expected.dtype:
        return say("is {dtype} where {expected} is expected", dtype=actual.dtype_name, expected=expected.dtype_name)
    if expected.grad and not actual.grad:
        return say("has the right values, but no gradient flows through it any more")
    return say("has nearly the right values, but not quite")


def _not_a_number(actual: Value, expected: Value) -> str:
    assert actual.data is not None and expected.data is not None
    unlike = np.isnan(actual.data) & np.isfinite(expected.data)
    return say("is NaN where it should be a number") if unlike.any() else ""


def _inverted(actual: Value, expected: Value) -> str:
    assert actual.data is not None and expected.data is not None
    both = actual.dtype == expected.dtype == 0 and actual.data.any() and not actual.data.all()
    opposite = both and bool((np.asarray(actual.data) != np.asarray(expected.data)).all())
    return say("is inverted: True and False are swapped") if opposite else ""


def _multiple(actual: Value, expected: Value) -> str:
    times = factor(actual, expected)
    if times is None:
        return ""
    if abs(times + 1) < 1e-3:
        return say("has the wrong sign")
    return say("is {times} times what it should be", times=f"{times:.3g}")


def _offset(actual: Value, expected: Value) -> str:
    a, b = actual.data, expected.data
    assert a is not None and b is not None
    known = np.isfinite(a) & np.isfinite(b)
    if a.size < 3 or not known.all() or actual.dtype == 0:
        return ""
    gap = float((a - b).mean())
    even = np.abs(a - b - gap).max() <= 1e-3 * abs(gap) and abs(gap) > 1e-6
    if not even:
        return ""
    size = f"{abs(gap):.3g}"
    return say("is {gap} too large everywhere", gap=size) if gap > 0 else say("is {gap} too small everywhere", gap=size)


def is_transpose_of(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether the one is the other with its axes in another order."""
    if a.ndim > 4:
        return False
    orders = (order for order in permutations(range(a.ndim)) if order != tuple(range(a.ndim)))
    return any(a.transpose(o).shape == b.shape and np.allclose(a.transpose(o), b, 1e-4, 1e-6, True) for o in orders)


def _transposed_square(actual: Value, expected: Value) -> str:
    assert actual.data is not None and expected.data is not None
    swapped = is_transpose_of(actual.data, expected.data)
    return say("has its axes in the wrong order") if swapped else ""


def _transformed(actual: Value, expected: Value) -> str:
    """`is the right one after a ReLU`"""
    if actual.kind != TENSOR or actual.size < 3 or actual.dtype < FLOATS or expected.dtype < FLOATS:
        return ""
    for name, edit in TENSORS:
        try:
            made = edit(torch.from_numpy(np.array(expected.data)).float()).double().numpy()
        except (RuntimeError, IndexError, TypeError, ValueError):
            continue
        if _same(made, np.asarray(actual.data), actual) and not _same(made, np.asarray(expected.data), actual):
            return say("is the right one {how}", how=say(name))
    return ""


def _triangle(actual: Value, expected: Value) -> str:
    """Which triangle of a matrix of truths, or of zeros and ones, the value marks: it needs no right one beside it."""
    a, b = actual.data, expected.data
    assert a is not None and b is not None
    matrices = _triangular(a)
    if matrices is None or _triangular(b) is None:
        return ""
    side = next((name for name, made in TRIANGLES if (matrices == made(np.ones_like(matrices))).all()), "")
    return say("is not what it should be: of each matrix it marks {part}", part=say(side)) if side else ""


TRIANGLES = (
    ("the diagonal and what is above it", np.triu),
    ("the diagonal and what is below it", np.tril),
    ("what is above the diagonal", lambda ones: np.triu(ones, 1)),
    ("what is below the diagonal", lambda ones: np.tril(ones, -1)),
)


def _triangular(data: np.ndarray) -> np.ndarray | None:
    """The matrices [...,n,n] of zeros and ones; None if it is none of these."""
    square = data.ndim > 1 and data.shape[-1] == data.shape[-2] > 2
    return data if square and np.isin(data, (0, 1)).all() else None


def _shifted(actual: Value, expected: Value) -> str:
    """`is shifted by one along axis 1`: of values with enough distinct entries that it is no coincidence."""
    a, b = actual.data, expected.data
    assert a is not None and b is not None
    if actual.dtype == 0:
        return ""
    for axis in range(a.ndim):
        if a.shape[axis] < 3 or len(np.unique(a)) < MIN_DISTINCT:
            continue
        one, other = np.moveaxis(a, axis, 0), np.moveaxis(b, axis, 0)
        if len(np.unique(one.reshape(len(one), -1), axis=0)) < 3:
            continue  # nearly the same all along the axis
        if _same(one[1:], other[:-1], actual) or _same(one[:-1], other[1:], actual):
            return say("is shifted by one along axis {axis}", axis=axis)
    return ""


Relation = Callable[[Value, Value], str]
RELATIONS: tuple[Relation, ...] = (
    _not_a_number, _inverted, _multiple, _offset, _transposed_square, _triangle, _shifted, _transformed,
)  # fmt: skip


def rows(a: np.ndarray, b: np.ndarray, like: Value) -> str:
    """`; each row differs`, `; 2 of 6 rows differ`: of the last axis; "" without several rows."""
    if a.ndim < 2 or not a.size or a.size == a.shape[-1]:
        return ""
    wrong = np.atleast_1d(_differs(a, b, like).reshape(-1, a.shape[-1]).any(axis=1))
    if wrong.all():
        return say("; each row differs")
    return say("; {wrong} of {count} rows differ", wrong=int(wrong.sum()), count=len(wrong)) if wrong.any() else ""


def picture(found: FaultLocation) -> dict[str, Any] | None:
    """The first matrix of the student's value there that has wrong entries, which are marked, without any right value.
    `start`: where it begins in the whole, unless it is the first one."""
    if found.trace is None or found.faulty_version is None or found.faulty_version.event is not None:
        return None
    version = found.faulty_version.version
    if own_value(found.trace, version) is None:
        return None
    data, pair = found.trace.values[version].data, _same_shaped(found)
    assert data is not None
    wrong = None
    if pair is not None and not _triangle(*pair) and _has_one_right(found):
        wrong = _wrong_entries(*pair)
    at = 0 if wrong is None else next((n for n in range(_matrices(wrong)) if _corner(wrong, n).any()), 0)
    marks = None if wrong is None else _corner(wrong, at).tolist()
    marks = None if marks is not None and all(map(all, marks)) else marks  # the sentence says so already
    drawn = own_value(found.trace, version, at)
    start = {"start": [*map(int, np.unravel_index(at, data.shape[:-2])), 0, 0]} if at else {}
    return {**(drawn or {}), **start, "wrong": marks[0] if data.ndim == 1 and marks else marks}


def own_value(trace: Trace, version: int, at: int = 0) -> dict[str, Any] | None:
    """The `name`, `shape` and `value` of one matrix of a student's value; None for what is no tensor to draw."""
    value = trace.values[version]
    if value.data is None or value.kind == TEXT or value.data.size < 2 or value.data.ndim > 5:
        return None
    rows = [[_entry(x, value.dtype) for x in row] for row in _corner(value.data, at)]
    node = trace.producer(version)
    return {
        "name": node.name or (say("the value returned here") if node.returned else say("the value there")),
        "shape": list(value.data.shape),
        "value": rows[0] if value.data.ndim == 1 else rows,
    }


def _corner(data: np.ndarray, at: int = 0) -> np.ndarray:
    """The first rows and columns of one matrix [rows,columns]; a vector is one row."""
    matrix = np.atleast_2d(data)
    return matrix.reshape(-1, *matrix.shape[-2:])[at, :LARGEST, :LARGEST]


def _matrices(data: np.ndarray) -> int:
    """The number of matrices."""
    return int(np.prod(data.shape[:-2]))


def _entry(x: float, dtype: int) -> Any:
    if dtype == 0:
        return bool(x)
    if not np.isfinite(x):
        return str(x)
    return int(x) if dtype < FLOATS else round(float(x), 4) if abs(x) < 1e6 else float(f"{x:.3g}")
