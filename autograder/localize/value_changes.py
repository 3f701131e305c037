"""Changes of one value of a traced answer: another axis, function, operator, side or order than the student's.

Each is what the same step would have given, had its author decided otherwise; it is computed of the values that the
step had at hand, and only where these, computed in the student's way, give the student's value.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from autograder.exercises.parse import parse_source
from autograder.feedback.translate import say
from autograder.localize.align import factor
from autograder.localize.instrument import Node
from autograder.localize.recorder import PLAIN, TENSOR
from autograder.localize.runs import (
    Role,
    Run,
    are_apart,
    as_array,
    count_of,
    data_of,
    each_of,
    equal,
    made_of,
    names_at,
    operand_data,
    operand_of,
    roles,
    value_of,
)
from autograder.localize.trace import Value
from autograder.localize.words import quote_of

FEWEST_SIZES = 3  # rows and columns of a mask whose triangle is told
IN_PLACE = "with `{right}` in place of `{wrong}` in this line your values are right"
IN_PLACE_OF_ONE = "with `{right}` in place of one `{wrong}` in this line your values are right"
EXCHANGED = "with `{one}` and `{other}` exchanged in this line your values are right"
OVER_ALL = "is taken over all entries together; along axis {axis} your values are right"
EQUAL_LEFT_OUT = "is False where both sides are equal; with True there your values are right"
EQUAL_LET_IN = "is True where both sides are equal; with False there your values are right"
SIDES = "has its two sides the wrong way round; with them exchanged your values are right"
OPERANDS = "has its two operands the wrong way round; with them exchanged your values are right"
LEFT_ALONE = "has a part too many; with its left side alone your values are right"
RIGHT_ALONE = "has a part too many; with its right side alone your values are right"
TRIANGLE = "marks in row i the columns {mine}; with those {other} your values are right"
ORDER = "is what `{later}` makes of the result of `{earlier}`; in the other order your values are right"
UNMASKED = "is made of all scores; with minus infinity before it where `{name}` is {truth} your values are right"
TOO_FAR = "is one step too far; with `{name}` as it was before this line your values are right"
ANOTHER = "is not what belongs here; with `{name}` in its place your values are right"
LARGE_BY_ROOT = "is too large by the square root of {count}; divided by that your values are right"
LARGE = "is too large by a factor of {count}; divided by that your values are right"
SMALL_BY_ROOT = "is too small by the square root of {count}; multiplied by that your values are right"
SMALL = "is too small by a factor of {count}; multiplied by that your values are right"
SENTENCES = (
    IN_PLACE, IN_PLACE_OF_ONE, EXCHANGED, OVER_ALL, EQUAL_LEFT_OUT, EQUAL_LET_IN, SIDES, OPERANDS, LEFT_ALONE,
    RIGHT_ALONE, TRIANGLE, ORDER, UNMASKED, TOO_FAR, ANOTHER, LARGE_BY_ROOT, LARGE, SMALL_BY_ROOT, SMALL,
)  # fmt: skip


Edit = Callable[[Run, int], np.ndarray | None]
Says = Callable[[Sequence[Run]], str]


class ValueChange(NamedTuple):
    """A change of a value, and what is said of it: after the value's name, or of the whole line."""

    edit: Edit
    says: Says
    of_line: bool = False
    is_vague: bool = False  # it says less than how the value is related to the right one


def changes_of_value(here: Run, at: int, right: Value | None, source: str) -> Iterator[ValueChange]:
    """The changes of the value that this event makes. `right`: what it should be, where that is known; `source`: of the
    cell in which it is made."""
    yield from _other_comparison(here, at, source)
    for kind in (_other_axis, _other_function, _other_operator, _other_triangle, _exchanged_axes, _other_order,
                 _mask_before, _variable_instead):  # fmt: skip
        yield from kind(here, at)
    yield from _other_scale(here, at, right)


def says_always(text: str, fields: Mapping[str, str], _: Sequence[Run]) -> str:
    """A sentence that is the same of all runs."""
    return say(text, **fields)


def _exchanged_axes(here: Run, at: int) -> Iterator[ValueChange]:
    """Two axes exchanged, the last two first."""
    axes = data_of(here, at).ndim if value_of(here, at).data is not None else 0
    if axes > 4:
        return
    for one, other in sorted(combinations(range(-axes, 0), 2), reverse=True):
        says = partial(_says_exchanged, here.trace.events[at].node, one, other)
        yield ValueChange(partial(_with_exchanged, one=one, other=other), says)


def _with_exchanged(run: Run, at: int, one: int, other: int) -> np.ndarray:
    return np.swapaxes(data_of(run, at), one, other)


def _says_exchanged(number: int, one: int, other: int, runs: Sequence[Run]) -> str:
    rows, columns = (roles(runs, partial(_size, number=number, axis=axis)) for axis in (one, other))
    if (one, other) == (-2, -1) and are_apart(rows, columns):
        return say("has a row for each {row} and a column for each {column}; with rows and columns exchanged your"
                   " values are right", row=each_of(rows[0]), column=each_of(columns[0]))  # fmt: skip
    return say("has its axes in the wrong order: with axes {one} and {other} exchanged your values are right",
               one=one, other=other)  # fmt: skip


def _size(run: Run, number: int, axis: int, of_operand: bool = False) -> int:
    """The length of this axis of what a node gives, or of what it makes it of; 0 if it was not kept."""
    at = next(at for at, event in enumerate(run.trace.events) if event.node == number)
    data = made_of(run, at, operand_data if of_operand else data_of)
    return 0 if data is None or data.ndim < -axis else data.shape[axis]


ALONG: dict[str, Callable[[Tensor, int], Tensor]] = {
    "softmax": lambda x, axis: x.softmax(axis),
    "log_softmax": lambda x, axis: x.log_softmax(axis),
    "cumsum": lambda x, axis: x.cumsum(axis),
    "flip": lambda x, axis: x.flip(axis),
    "normalize": lambda x, axis: torch.nn.functional.normalize(x, dim=axis),
    "argsort": lambda x, axis: x.argsort(axis),
}
REDUCING: dict[str, Callable[[Tensor, int, bool], Tensor]] = {
    "sum": lambda x, axis, keep: x.sum(axis, keepdim=keep),
    "mean": lambda x, axis, keep: x.mean(axis, keepdim=keep),
    "std": lambda x, axis, keep: x.std(axis, keepdim=keep),
    "var": lambda x, axis, keep: x.var(axis, keepdim=keep),
    "amax": lambda x, axis, keep: x.amax(axis, keepdim=keep),
    "amin": lambda x, axis, keep: x.amin(axis, keepdim=keep),
    "prod": lambda x, axis, keep: x.prod(axis, keepdim=keep),
    "logsumexp": lambda x, axis, keep: x.logsumexp(axis, keepdim=keep),
    "norm": lambda x, axis, keep: x.norm(dim=axis, keepdim=keep),
    "argmax": lambda x, axis, keep: x.argmax(axis, keepdim=keep),
    "argmin": lambda x, axis, keep: x.argmin(axis, keepdim=keep),
}
ELEMENTWISE: dict[str, Callable[[Tensor], Tensor]] = {
    "exp": torch.exp, "log": torch.log, "sqrt": torch.sqrt, "tanh": torch.tanh, "relu": torch.relu,
    "sigmoid": torch.sigmoid, "abs": torch.abs, "USub": torch.neg, "gelu": torch.nn.functional.gelu,
    "silu": torch.nn.functional.silu, "square": torch.square, "rsqrt": torch.rsqrt,
}  # fmt: skip


OF_NUMBERS: dict[str, Callable[[Sequence[np.ndarray]], Any]] = {
    "max": lambda sides: np.maximum.reduce(list(map(np.asarray, sides))),
    "min": lambda sides: np.minimum.reduce(list(map(np.asarray, sides))),
    "maximum": lambda sides: np.maximum(*sides),
    "minimum": lambda sides: np.minimum(*sides),
}


def _along(operation: str, data: np.ndarray, axis: int, keep: bool) -> np.ndarray:
    """What the operation gives along this axis."""
    x = torch.tensor(data)
    done = ALONG[operation](x, axis) if operation in ALONG else REDUCING[operation](x, axis, keep)
    return as_array(done)


def _is_along(run: Run, at: int, axis: int) -> bool:
    """Whether the event's value is what its operation gives of its operand along the axis."""
    value = made_of(run, at, data_of)
    made = made_of(run, at, partial(_run_along, axis=axis))
    return equal(made, value)


def _run_along(run: Run, at: int, axis: int) -> np.ndarray:
    operand = operand_data(run, at)
    return _along(run.trace.node(at).operation, operand, axis, data_of(run, at).ndim == operand.ndim)


def _axis(run: Run, at: int) -> int | None:
    """The axis, from the end, along which the operation of this event runs; None if that is not clear."""
    operand = made_of(run, at, operand_data)
    if run.trace.node(at).operation not in {*ALONG, *REDUCING} or operand is None:
        return None
    fitting = [axis for axis in range(-operand.ndim, 0) if _is_along(run, at, axis)]
    return fitting[0] if len(fitting) == 1 else None


def _other_axis(here: Run, at: int) -> Iterator[ValueChange]:
    """The same operation along another axis of the same value, or along one in place of all entries."""
    operation, operand = here.trace.node(at).operation, made_of(here, at, operand_data)
    if operation in REDUCING and operand is not None and operand.ndim > 1:
        for axis, keep in ((axis, keep) for axis in range(-1, -operand.ndim - 1, -1) for keep in (True, False)):
            yield ValueChange(
                partial(_along_for_all, axis=axis, keep=keep), partial(says_always, OVER_ALL, {"axis": str(axis)})
            )
    mine = _axis(here, at)
    if mine is None:
        return
    for other in range(-1, -operand_data(here, at).ndim - 1, -1):
        if other != mine:
            says = partial(_says_axis, here.trace.events[at].node, mine, other)
            yield ValueChange(partial(_run_along_other, mine=mine, other=other), says)


def _along_for_all(run: Run, at: int, axis: int, keep: bool) -> np.ndarray | None:
    operation, operand = run.trace.node(at).operation, operand_data(run, at)
    return _along(operation, operand, axis, keep) if equal(_over_all(operation, operand), data_of(run, at)) else None


def _run_along_other(run: Run, at: int, mine: int, other: int) -> np.ndarray | None:
    return _run_along(run, at, other) if _is_along(run, at, mine) else None


def _says_axis(number: int, mine: int, other: int, runs: Sequence[Run]) -> str:
    sizes = (partial(_size, number=number, axis=axis, of_operand=True) for axis in (mine, other))
    own, right = (roles(runs, size) for size in sizes)
    if are_apart(own, right):
        return say("is taken along axis {mine}, which has a place for each {own}; along axis {other}, which has one for"
                   " each {right}, your values are right",
                   mine=mine, own=each_of(own[0]), other=other, right=each_of(right[0]))  # fmt: skip
    return say("is taken along axis {mine}; along axis {other} your values are right", mine=mine, other=other)


def _other_function(here: Run, at: int) -> Iterator[ValueChange]:
    """A similar function of the same value: a sum for a mean, another activation, the smaller for the larger."""
    operation = here.trace.node(at).operation
    others: Mapping[str, Any] = {}
    for table in (REDUCING, ELEMENTWISE, OF_NUMBERS):
        others = table if operation in table else others
    for other in others:
        if other != operation:
            says = partial(says_always, _in_place(here, at), {"wrong": operation, "right": other})
            yield ValueChange(partial(_by_function, operation=operation, other=other), says, of_line=True)


def _in_place(run: Run, at: int) -> str:
    """The sentence for another step of the same value: the line may have several like it."""
    node = run.trace.node(at)
    like = [one for one in run.trace.table.nodes
            if (one.cell, one.line, one.operation) == (node.cell, node.line, node.operation)]  # fmt: skip
    return IN_PLACE if len(like) == 1 else IN_PLACE_OF_ONE


def _by_function(run: Run, at: int, operation: str, other: str) -> np.ndarray | None:
    if operation in OF_NUMBERS and (sides := _sides(run, at)) and len(sides) > 1:
        by = OF_NUMBERS[operation](sides)
        return np.asarray(OF_NUMBERS[other](sides)) if equal(np.asarray(by), data_of(run, at)) else None
    operand, value = operand_data(run, at), data_of(run, at)
    if operation in ELEMENTWISE:
        is_so = equal(_elementwise(ELEMENTWISE[operation], operand), value)
        return _elementwise(ELEMENTWISE[other], operand) if is_so else None
    if equal(_over_all(operation, operand), value):
        return _over_all(other, operand)
    axis = _axis(run, at)
    return None if axis is None else _along(other, operand, axis, value.ndim == operand.ndim)


def _over_all(operation: str, data: np.ndarray) -> np.ndarray:
    """What the operation gives of all entries together."""
    return as_array(REDUCING[operation](torch.from_numpy(data.reshape(-1)), 0, False))


COMPARISONS = {"Lt": np.less, "LtE": np.less_equal, "Gt": np.greater, "GtE": np.greater_equal}
WITH_EQUAL = {"Lt": "LtE", "LtE": "Lt", "Gt": "GtE", "GtE": "Gt"}
TURNED = {"Lt": "Gt", "LtE": "GtE", "Gt": "Lt", "GtE": "LtE"}
SAYS_EQUAL = {"Lt": EQUAL_LEFT_OUT, "Gt": EQUAL_LEFT_OUT, "LtE": EQUAL_LET_IN, "GtE": EQUAL_LET_IN}


def _other_comparison(here: Run, at: int, source: str) -> Iterator[ValueChange]:
    """`<=` for `<`, or with the sides exchanged."""
    node = here.trace.node(at)
    if node.operation not in COMPARISONS:
        return
    number = _constant_side(node, source)
    for other, text in ((WITH_EQUAL[node.operation], SAYS_EQUAL[node.operation]), (TURNED[node.operation], SIDES)):
        change = partial(_compared, operation=node.operation, other=other, number=number)
        yield ValueChange(change, partial(says_always, text, {}))


def _constant_side(node: Node, source: str) -> tuple[int, float] | None:
    """The side of a comparison, 0 or 1, that is written as a number, and the number; it is not recorded."""
    try:
        statements = parse_source(f"({quote_of(node, source)})").body
    except SyntaxError:
        return None
    tree = statements[0].value if len(statements) == 1 and isinstance(statements[0], ast.Expr) else None
    sides = [tree.left, *tree.comparators] if isinstance(tree, ast.Compare) else []
    found = [(n, float(one.value)) for n, one in enumerate(sides)
             if isinstance(one, ast.Constant) and isinstance(one.value, int | float)]  # fmt: skip
    return found[0] if len(found) == 1 and len(sides) == 2 else None


def _compared(
    run: Run, at: int, operation: str, other: str, number: tuple[int, float] | None
) -> np.ndarray | None:  # fmt: skip
    sides = _sides(run, at)
    if number is not None:
        sides.insert(number[0], np.asarray(number[1]))
    if len(sides) != 2 or not equal(COMPARISONS[operation](sides[0], sides[1]).astype(float), data_of(run, at)):
        return None
    return np.asarray(COMPARISONS[other](sides[0], sides[1]), dtype=float)


def _sides(run: Run, at: int) -> list[np.ndarray]:
    """The numbers of which this event makes its value, in the order in which they stand."""
    trace = run.trace
    found = [trace.values[one].data for one in trace.operands[at] if one != trace.events[at].version]
    return [one for one in found if one is not None]


OPERATORS = {"Add": np.add, "Sub": np.subtract, "Mult": np.multiply, "Div": np.divide}
LIKE = {"Add": ("Sub", "Mult"), "Sub": ("Add",), "Mult": ("Div", "Add"), "Div": ("Mult",)}  # easily confused
SIGNS = {"Add": "+", "Sub": "-", "Mult": "*", "Div": "/"}


def _other_operator(here: Run, at: int) -> Iterator[ValueChange]:
    """One operand alone, `-` for `+`, and the two operands of a difference or a quotient exchanged."""
    operation = here.trace.node(at).operation
    if operation not in OPERATORS:
        return
    for side, text in enumerate((LEFT_ALONE, RIGHT_ALONE)):
        yield ValueChange(partial(_one_side, operation=operation, side=side), partial(says_always, text, {}))
    for other in LIKE[operation]:
        says = partial(says_always, _in_place(here, at), {"wrong": SIGNS[operation], "right": SIGNS[other]})
        yield ValueChange(partial(_operated, operation=operation, other=other), says, of_line=True)
    if operation in ("Sub", "Div"):
        yield ValueChange(
            partial(_operated, operation=operation, other=operation, turned=True), partial(says_always, OPERANDS, {})
        )


def _one_side(run: Run, at: int, operation: str, side: int) -> np.ndarray | None:
    sides = _sides(run, at)
    is_so = _operated(run, at, operation, operation) is not None
    return np.broadcast_to(sides[side], data_of(run, at).shape) if is_so else None


def _operated(run: Run, at: int, operation: str, other: str, turned: bool = False) -> np.ndarray | None:
    sides = _sides(run, at)
    with np.errstate(all="ignore"):
        if len(sides) != 2 or not equal(OPERATORS[operation](sides[0], sides[1]), data_of(run, at)):
            return None
        return np.asarray(OPERATORS[other](*(sides[::-1] if turned else sides)))


Triangle = tuple[bool, int]  # whether it is the lower one, and its diagonal


def _triangle(data: np.ndarray) -> Triangle | None:
    """The triangle of ones of which each matrix consists; None if it is none, or all or nothing."""
    if data.ndim < 2 or min(data.shape[-2:]) < FEWEST_SIZES or not np.isin(data, (0, 1)).all():
        return None
    ones = np.ones(data.shape[-2:])
    rows, columns = data.shape[-2], data.shape[-1]
    found = [(lower, by) for lower, make in ((True, np.tril), (False, np.triu)) for by in range(1 - rows, columns)
             if (data == make(ones, by)).all() and 0 < make(ones, by).sum() < ones.size]  # fmt: skip
    return found[0] if len(found) == 1 else None


def _other_triangle(here: Run, at: int) -> Iterator[ValueChange]:
    """Another diagonal of a triangular mask, or its other side."""
    data = value_of(here, at).data
    mine = None if data is None else _triangle(data)
    if mine is None:
        return
    lower, by = mine
    near = [(lower, by + 1), (lower, by - 1)]
    for other in dict.fromkeys([*near, (not lower, -by), *((not lower, by) for by in (0, 1, -1))]):
        yield ValueChange(partial(_with_triangle, mine=mine, other=other), partial(_says_triangle, mine, other))


def _with_triangle(run: Run, at: int, mine: Triangle, other: Triangle) -> np.ndarray | None:
    data = data_of(run, at)
    if _triangle(data) != mine:
        return None
    make = np.tril if other[0] else np.triu
    made: np.ndarray = make(np.ones_like(data), other[1])
    return made


def _says_triangle(mine: Triangle, other: Triangle, _: Sequence[Run]) -> str:
    return say(TRIANGLE, mine=_columns(mine), other=_columns(other))


def _columns(triangle: Triangle) -> str:
    """`up to i - 1`"""
    lower, by = triangle
    edge = "i" if by == 0 else f"i {'+' if by > 0 else '-'} {abs(by)}"
    return say("up to {edge}", edge=edge) if lower else say("from {edge} on", edge=edge)


def _other_order(here: Run, at: int) -> Iterator[ValueChange]:
    """Two steps of which the second comes first: the logarithm of a mean, or the mean of logarithms."""
    inside = _step_before(here, at)
    if inside is None or _function(here, at) is None or _function(here, inside) is None:
        return
    later, earlier = (here.trace.node(one).operation for one in (at, inside))
    yield ValueChange(_turned, partial(says_always, ORDER, {"later": later, "earlier": earlier}))


def _step_before(run: Run, at: int) -> int | None:
    """The event that made this one's operand, and nothing else."""
    operand, trace = operand_of(run, at), run.trace
    before = None if operand is None else trace.values[operand].event
    return before if before is not None and trace.events[before].version == operand else None


def _turned(run: Run, at: int) -> np.ndarray | None:
    inside = _step_before(run, at)
    second, first = _function(run, at), None if inside is None else _function(run, inside)
    if inside is None or first is None or second is None:
        return None
    return first(second(operand_data(run, inside)))


def _function(run: Run, at: int) -> Callable[[np.ndarray], np.ndarray] | None:
    """What this event does with its operand, if it is a known function of it alone."""
    operation, operand, value = run.trace.node(at).operation, made_of(run, at, operand_data), made_of(run, at, data_of)
    if operand is None or value is None:
        return None
    if operation in ELEMENTWISE:
        apply = partial(_elementwise, ELEMENTWISE[operation])
        return apply if equal(apply(operand), value) else None
    if operation in REDUCING and equal(_over_all(operation, operand), value):
        return partial(_over_all, operation)
    axis = _axis(run, at)
    return None if axis is None else partial(_along, operation, axis=axis, keep=value.ndim == operand.ndim)


def _elementwise(function: Callable[[Tensor], Tensor], data: np.ndarray) -> np.ndarray:
    return as_array(function(torch.tensor(data)))


def _mask_before(here: Run, at: int) -> Iterator[ValueChange]:
    """A softmax of scores that were masked first."""
    if here.trace.node(at).operation not in ("softmax", "log_softmax"):
        return
    for name, value in names_at(here, at).items():
        if value.kind == TENSOR and value.dtype == 0:
            for truth in (False, True):
                says = partial(says_always, UNMASKED, {"name": name, "truth": str(truth)})
                yield ValueChange(partial(_of_masked, name=name, truth=truth), says)


def _of_masked(run: Run, at: int, name: str, truth: bool) -> np.ndarray | None:
    mask, axis = names_at(run, at).get(name), _axis(run, at)
    if axis is None:
        return None
    if mask is None or mask.data is None:  # a call without one
        return data_of(run, at)
    hidden = np.where((mask.data != 0) == truth, -np.inf, operand_data(run, at))
    made = _along(run.trace.node(at).operation, hidden, axis, True)
    return np.where(np.isneginf(hidden).all(axis, keepdims=True), 0.0, made)  # a row in which everything is hidden


def _variable_instead(here: Run, at: int) -> Iterator[ValueChange]:
    """A variable that holds other numbers of this shape; of which the value is made, or another one."""
    data = made_of(here, at, data_of)
    for name, value in names_at(here, at).items():
        if data is not None and value.kind == TENSOR and value.data is not None and value.data.shape == data.shape:
            text = TOO_FAR if _is_used(here, at, value) else ANOTHER
            yield ValueChange(partial(_variable, name=name), partial(says_always, text, {"name": name}), is_vague=True)


def _is_used(run: Run, at: int, value: Value) -> bool:
    """Whether the line makes what this event gives of the value."""
    trace, line, stack, visited = run.trace, run.trace.node(at).line, [at], {at}
    while stack:
        for one in trace.operands[stack.pop()]:
            used = trace.values[one]
            if equal(used.data, value.data):
                return True
            if used.event not in visited and trace.node(used.event).line == line:
                visited.add(used.event)
                stack.append(used.event)
    return False


def _variable(run: Run, at: int, name: str) -> np.ndarray | None:
    value = names_at(run, at).get(name)
    return None if value is None else value.data


SCALES: tuple[tuple[Callable[[float], float], str], ...] = (
    (lambda n: n**0.5, LARGE_BY_ROOT),
    (lambda n: n, LARGE),
    (lambda n: n**-0.5, SMALL_BY_ROOT),
    (lambda n: 1 / n, SMALL),
)


def _other_scale(here: Run, at: int, right: Value | None) -> Iterator[ValueChange]:
    """A factor that is a number with a name, or the length of an axis, or the square root of either."""
    times = None if right is None else factor(value_of(here, at), right)
    if times is None:
        return
    for name, number in names_at(here, at).items():
        if number.kind != PLAIN or number.data is None or number.data.ndim or not number.data > 1:
            continue
        for scale, text in SCALES:
            if abs(times / scale(float(number.data)) - 1) < 1e-3:
                says = partial(says_always, text, {"count": f"`{name}`"})
                yield ValueChange(partial(_by_number, name=name, scale=scale), says)
    for name, value in here.given.items():
        for axis in range(-(value.data.ndim if value.data is not None else 0), 0):
            for scale, text in SCALES:
                length = _length(here, name, axis)
                if length > 1 and abs(times / scale(length) - 1) < 1e-3:
                    role = name, axis, value.data.ndim  # type: ignore[union-attr]
                    says = partial(_says_scale, text, role)
                    yield ValueChange(partial(_divided, name=name, axis=axis, scale=scale), says)


def _says_scale(text: str, role: Role, runs: Sequence[Run]) -> str:
    lengths = {_length(run, *role[:2]) for run in runs}
    return say(text, count=count_of(role)) if len(lengths) > 1 else ""  # else it may be another number


def _by_number(run: Run, at: int, name: str, scale: Callable[[float], float]) -> np.ndarray | None:
    number = names_at(run, at).get(name)
    return None if number is None or number.data is None else data_of(run, at) / scale(float(number.data))


def _divided(run: Run, at: int, name: str, axis: int, scale: Callable[[float], float]) -> np.ndarray:
    return data_of(run, at) / scale(_length(run, name, axis))


def _length(run: Run, name: str, axis: int) -> int:
    value = run.given.get(name)
    if value is None or value.data is None or value.data.ndim < -axis:
        raise ValueError("an argument that was not given")
    return value.data.shape[axis]
