"""One traced answer of a student, and what its values and their sizes mean: which argument has as many rows."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from torch import Tensor

from autograder.checks.probe import Case
from autograder.exercises.parse import parse_source
from autograder.feedback.translate import say
from autograder.localize.instrument import Node
from autograder.localize.recorder import DTYPES, FLOATS, LARGEST, PLAIN, TENSOR
from autograder.localize.trace import Trace, Value


@dataclass(frozen=True)
class Run:
    """One traced answer, and what was given to it by name."""

    trace: Trace
    given: Mapping[str, Value]


Made = tuple[np.ndarray, int]  # the value that takes another one's place, and its dtype


@dataclass(frozen=True)
class Decision:
    """What is said of a change that makes the answer right, and the runs of which it is true, the one at hand first."""

    says: Callable[[Sequence[Run]], str]
    runs: Sequence[Run]
    version: int | None = None  # of the first run: the value whose name begins the sentence


def as_array(value: Tensor) -> np.ndarray:
    """The numbers as a trace keeps them."""
    array: np.ndarray = value.double().numpy()
    return array


def equal(one: np.ndarray | None, other: np.ndarray | None) -> bool:
    """Whether both are there, and hold the same numbers in the same shape."""
    if one is None or other is None or one.shape != other.shape:
        return False
    return bool(np.allclose(one, other, 1e-4, 1e-6, equal_nan=True))


# -- what is given to an answer, and what its sizes mean ---------------------------------------------------------------


def named_arguments(trace: Trace, case: Case) -> dict[str, Value]:
    """The arguments by the names that the student's function or method has for them; tensors and numbers alone."""
    called, made = _argument_names(trace.table.source, case.symbol, case.init is not None, case.method)
    every = {**dict(zip(made, case.init or (), strict=False)), **dict(zip(called, case.args, strict=False))}
    values = {name: _value_given(one) for name, one in {**every, **case.kwargs}.items()}
    return {name: value for name, value in values.items() if value is not None}


@lru_cache(maxsize=64)
def _argument_names(
    source: str, symbol: str, is_class: bool, method: str | None
) -> tuple[Sequence[str], Sequence[str]]:  # fmt: skip
    """The names of the arguments of what a question calls, and of its class's constructor."""
    body: list[ast.stmt] = parse_source(source).body
    if not is_class:
        return _names_of(body, symbol), ()
    owner = next((one for one in body if isinstance(one, ast.ClassDef) and one.name == symbol), None)
    inside = [] if owner is None else owner.body
    return _names_of(inside, method or "forward"), _names_of(inside, "__init__")


def _names_of(body: Sequence[ast.stmt], name: str) -> list[str]:
    function = next((one for one in body if isinstance(one, ast.FunctionDef) and one.name == name), None)
    arguments = [] if function is None else [*function.args.posonlyargs, *function.args.args]
    return [one.arg for one in arguments if one.arg != "self"]


def _value_given(argument: Any) -> Value | None:
    if isinstance(argument, Tensor) and argument.dtype in DTYPES and argument.numel() <= LARGEST:
        data = argument.detach().cpu().double().numpy()
        return Value(TENSOR, DTYPES.index(argument.dtype), False, -1, -1, data)
    if type(argument) in (bool, int, float):
        return Value(PLAIN, {bool: 0, int: 5, float: 9}[type(argument)], False, -1, -1, np.asarray(float(argument)))
    return None


Role = tuple[str, int, int]  # an argument, its axis from the end, the least number of its axes


def roles(runs: Sequence[Run], size: Callable[[Run], int]) -> list[Role]:
    """The axes of arguments that are as long as this in all runs: in one run many are, by chance. None if it is the
    same length everywhere, as two heads and a batch of two may be."""
    found: dict[tuple[str, int], int] | None = None
    for run in runs:
        there = {(name, axis - value.data.ndim): value.data.ndim for name, value in run.given.items()
                 if value.kind == TENSOR and value.data is not None
                 for axis, length in enumerate(value.data.shape) if length == size(run)}  # fmt: skip
        found = there if found is None else {one: min(axes, there[one]) for one, axes in found.items() if one in there}
    if len({size(run) for run in runs}) < 2:
        return []
    return [(*one, axes) for one, axes in (found or {}).items()]


def are_apart(one: Sequence[Role], other: Sequence[Role]) -> bool:
    """Whether each is known, and no axis may be either."""
    axes = [{role[:2] for role in some} for some in (one, other)]
    return all(axes) and not axes[0] & axes[1]


def each_of(role: Role) -> str:
    """`row of q`: what an axis has an entry for."""
    name, axis, axes = role
    if axes == 1:
        return say("entry of `{name}`", name=name)
    if axis >= -2:
        return say("column of `{name}`", name=name) if axis == -1 else say("row of `{name}`", name=name)
    return say("place along axis {axis} of `{name}`", axis=axes + axis, name=name)


def count_of(role: Role) -> str:
    """`the number of columns of q`"""
    name, axis, axes = role
    if axes == 1:
        return say("the number of entries of `{name}`", name=name)
    if axis >= -2:
        text = "the number of columns of `{name}`" if axis == -1 else "the number of rows of `{name}`"
        return say(text, name=name)
    return say("the length of axis {axis} of `{name}`", axis=axes + axis, name=name)


def names_at(run: Run, at: int) -> dict[str, Value]:
    """The variables of this call that were read or named before the event, and the arguments."""
    trace = run.trace
    found, frame = dict(run.given), trace.events[at].frame
    for event in trace.events[:at]:
        node = trace.table.nodes[event.node]
        if event.frame == frame:
            if node.name:
                found[node.name] = trace.values[event.version]
            if is_named(node):
                found[node.text] = trace.values[event.version]
    return found


def is_named(node: Node) -> bool:
    """Whether it reads a variable, or an attribute of the object itself."""
    return (node.operation == "load" and node.text.isidentifier()) or (
        node.text.startswith("self.") and node.text.removeprefix("self.").isidentifier()
    )


def is_number(value: Value) -> bool:
    """Whether it is a tensor, or a number, whose entries were kept."""
    return value.kind in (TENSOR, PLAIN) and value.data is not None


def may_replace(one: Value, other: Value) -> bool:
    """Whether another variable's value is of the same kind, and another one."""
    if not is_number(other) or one.kind != other.kind or one.data is None or other.data is None:
        return False
    kind = lambda value: 0 if value.dtype == 0 else 1 if value.dtype < FLOATS else 2
    return kind(one) == kind(other) and one.data.ndim == other.data.ndim and not equal(one.data, other.data)


def made_of(run: Run, at: int, edit: Callable[[Run, int], np.ndarray | None]) -> np.ndarray | None:
    """What the edit gives at this event; None where it can't be made, as of axes that are not there."""
    try:
        return edit(run, at)
    except (IndexError, RuntimeError, ValueError, TypeError):
        return None


def value_of(run: Run, at: int) -> Value:
    """The value that this event gave."""
    return run.trace.values[run.trace.events[at].version]


def data_of(run: Run, at: int) -> np.ndarray:
    """Its entries. Raises ValueError if they were not kept."""
    data = value_of(run, at).data
    if data is None:
        raise ValueError("a value that was not kept")
    return data


def operand_of(run: Run, at: int) -> int | None:
    """The first tensor of which this event makes its value; None if there is none, or if its numbers were not kept."""
    trace = run.trace
    used = (one for one in trace.operands[at] if trace.values[one].kind == TENSOR and one != trace.events[at].version)
    first = next(used, None)
    return first if first is not None and trace.values[first].data is not None else None


def operand_data(run: Run, at: int) -> np.ndarray:
    """The entries of `operand_of`. Raises ValueError if there are none."""
    first = operand_of(run, at)
    if first is None:
        raise ValueError("a step that makes its value of no tensor")
    data = run.trace.values[first].data
    assert data is not None
    return data
