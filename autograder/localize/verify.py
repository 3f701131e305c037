"""Whether a line is at fault: with the right value in place of its own, the answer must become right.

If the answer is right once a value is exchanged for one that right answers compute, then nothing after it is wrong. The
line that makes it is at fault if all that it makes it of is right, too: a value that is returned, or put together of
parts, repairs any answer. Where no exchange helps, as in an answer written in a way of its own, no line is sure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice, permutations, takewhile
from typing import Any

import numpy as np
import torch

from autograder.checks.probe import Probe
from autograder.localize.align import FaultyVersion, KnownValues, caller, is_input, is_rich, key
from autograder.localize.location import FaultLocation
from autograder.localize.recorder import DTYPES, FLOATS, OPAQUE, PLAIN, TENSOR, TEXT
from autograder.localize.trace import Trace, Value, repairs
from autograder.localize.words import is_transpose_of, relation
from autograder.sandbox.work_time import WorkTime

FEW, MANY = 3, 8  # fewer numbers, or truths, are equal by chance
COLLECTING = frozenset({
    "List", "ListComp", "Tuple", "Set", "SetComp", "Dict", "DictComp", "GeneratorExp", "append", "extend", "insert",
    "add", "update", "list", "tuple", "dict", "set", "sorted", "reversed",
})  # fmt: skip
SCALING = frozenset({"MatMult", "Mult", "matmul", "einsum", "bmm", "mul", "Div", "div", "divide"})
ARITHMETIC = frozenset({"Add", "Sub", "Mult", "FloorDiv", "Mod", "USub", "max", "min", "abs", "int", "round"})
RESHAPING = frozenset({"unsqueeze", "squeeze", "view", "reshape", "expand", "flatten"})
DEEPEST = 8  # steps back from a value to those that it is made of
TRIES = 16  # values that are tried in one place
# of all tries together, counted so that a busy machine says the same: events of the code that they run once more
MAX_EVENTS = 1_000_000
LEAST_EVENTS = 50  # of a try, whose question is sent and whose answer is compared
GUARD_S = 40.0  # of the processor, which only code that hardly ends reaches: many times what so many events take
Swap = tuple[int, int, torch.Tensor]  # a node, the n-th time that it is reached, the value that it gets


class Tries:
    """What may still be tried: each try runs the traced code once more, which costs the events of its trace."""

    def __init__(self, trace: Trace, subject: Any, events: int | None = None) -> None:
        self.left, self.cost = MAX_EVENTS if events is None else events, LEAST_EVENTS + len(trace.events)
        self._time_left = WorkTime(GUARD_S, subject)

    @property
    def may_go_on(self) -> bool:
        """Whether there is something left for one more try."""
        return self.left > 0 and not self._time_left.is_over

    def spend_one(self) -> bool:
        """Whether one more may be tried, which is counted."""
        if not self.may_go_on:
            return False
        self.left -= self.cost
        return True


def verify(found: FaultLocation, subject: Any, probe: Probe, expected: Any) -> FaultLocation:
    """The location, `sure` if an exchange of its value repairs the answer; of code that is right in its other calls
    the call that goes wrong."""
    trace = found.trace
    if trace is None or found.sure:
        return found

    tries = Tries(trace, subject)
    repaired = partial(_repairing, trace, found, subject, probe, expected, tries)
    known = found.right_traces.values()
    for version in places(found):
        if (right := repaired(version)) is not None:
            version, right = _earliest(trace, version, right, known, repaired)
            version, right = _last_product(trace, version, right, known, repaired)
            version, right = _before_reshaping(trace, version, right, repaired)
            elsewhere = _is_set_elsewhere(trace, version, right) or _collects_wrong_parts(trace, version, right)
            if elsewhere or _calls_what_was_changed(trace, version) or not _follows_from_right(trace, version, known):
                return found
            if _is_of_a_later_step(trace, version, right, found.right_traces):
                return found
            if _is_computed_right(found, version, right, known) or _hangs_on_number(trace, version, repaired):
                return found
            place = _blamed(found, version, right)
            inside = place.faulty_version is not None and not place.faulty_version.unfinished
            doubtful = inside and any(repaired(one) is not None for one in _arguments(trace, place.event))
            if not tries.may_go_on:  # not all was tried that could have shown it to be right
                return found
            # what is wrong may be the code, or what it is given
            return replace(place, sure=not doubtful, doubtful=doubtful)
    return found


def _repairing(
    trace: Trace, found: FaultLocation, subject: Any, probe: Probe, expected: Any, tries: Tries, version: int
) -> Value | None:
    """The right value that repairs the answer in place of this version."""
    tried = takewhile(lambda _: tries.spend_one(), islice(_exchanges(trace, version, found), TRIES))
    return next((right for right, swaps in tried if repairs(subject, probe, swaps, expected)), None)


def verify_again(
    small: FaultLocation, found: FaultLocation, subject: Any, probe: Probe, expected: Any
) -> FaultLocation | None:
    """The same fault on another input, on which `small` was found: the right value in the same place repairs it there,
    too. None if it does not: then another input shows another fault, or shows it elsewhere."""
    trace, faulty = small.trace, found.faulty_version
    if trace is None or found.trace is None or faulty is None or faulty.event is not None or faulty.unfinished:
        return None
    node, tries = found.trace.events[found.trace.values[faulty.version].event].node, Tries(trace, subject)
    for version, value in enumerate(trace.values):
        if trace.events[value.event].node != node or value.kind not in (TENSOR, PLAIN):
            continue
        right = _repairing(trace, small, subject, probe, expected, tries, version)
        if right is None:
            return None
        place = replace(found, trace=trace, right_traces=small.right_traces, departure=small.departure)
        return replace(place, event=value.event, faulty_version=FaultyVersion(version, right), larger=found)
    return None


def _earliest(
    trace: Trace, version: int, right: Value, known: KnownValues, repaired: Callable[[int], Value | None]
) -> tuple[int, Value]:
    """The earliest of the values that led to this one with which an exchange repairs the answer as well, and the right
    value in its place: with it wrong, what is made of it need not be. Values that may well be right are passed over."""
    for _ in range(DEEPEST):
        for one in trace.operands[trace.values[version].event]:
            value = trace.values[one]
            passed_over = _is_right(trace, one, known) or (value.size < FEW and known.has(value))
            if value.kind in (TENSOR, PLAIN) and not passed_over and (other := repaired(one)) is not None:
                version, right = one, other
                break
        else:
            break
    return version, right


def _last_product(
    trace: Trace, version: int, right: Value, known: KnownValues, repaired: Callable[[int], Value | None]
) -> tuple[int, Value]:
    """The last of the products and quotients made of this one that is off in the same way, while right answers compute
    those before it as they are: a scale that is missing or in vain may follow behind."""
    told = relation(trace.values[version], right)
    while told and known.has(trace.values[version], turned=False, in_parts=False):
        products = (one for one, value in enumerate(trace.values) if version in trace.operands[value.event]
                    and value.kind == TENSOR and trace.producer(one).operation in SCALING)  # fmt: skip
        later = next(products, None)
        other = None if later is None else repaired(later)
        if later is None or other is None or relation(trace.values[later], other) != told:
            break
        version, right = later, other
    return version, right


def _before_reshaping(
    trace: Trace, version: int, right: Value, repaired: Callable[[int], Value | None]
) -> tuple[int, Value]:
    """The value that was only brought into another shape, where its numbers are off in a known way: a right answer may
    compute them on the way to the right ones, and then the line that made them is at fault and not the one that shapes.
    """
    while trace.producer(version).operation in RESHAPING and relation(trace.values[version], right):
        size = trace.values[version].size
        operands = (one for one in trace.operands[trace.values[version].event]
                    if trace.values[one].kind == TENSOR and trace.values[one].size == size)  # fmt: skip
        made = next(operands, None)
        other = None if made is None or is_input(trace, made) else repaired(made)
        if made is None or other is None:
            break
        version, right = made, other
    return version, right


def _follows_from_right(trace: Trace, version: int, known: KnownValues) -> bool:
    """Whether all that its line makes it of is surely right: else the fault may be in a line before."""
    line, waiting, visited = trace.producer(version).line, [version], {version}
    while waiting:
        for one in trace.operands[trace.values[waiting.pop()].event]:
            if one in visited or trace.values[one].kind not in (TENSOR, PLAIN):
                continue
            visited.add(one)
            if trace.producer(one).line == line:
                waiting.append(one)
            elif not _is_right(trace, one, known):
                return False
    return True


def _is_right(trace: Trace, version: int, known: KnownValues) -> bool:
    """Whether it is an input, a size, or so many numbers of a right answer that they are equal by no chance.

    A single float may be right, and yet not the one that belongs here: a sum that lacks its last term.
    """
    value = trace.values[version]
    enough = MANY if value.dtype == 0 else FEW
    telling = is_rich(value) if value.size >= enough else value.dtype < FLOATS and value.size < FEW
    return is_input(trace, version) or (telling and known.has(value, turned=False, in_parts=False, in_shape=True))


def _is_computed_right(found: FaultLocation, version: int, right: Value, known: KnownValues) -> bool:
    """Whether right answers compute these numbers as well, and those that repair the answer do not follow from them: a
    step behind is missing, such as an absolute value. A line that only takes a value up may take the wrong one."""
    assert found.trace is not None
    value, node = found.trace.values[version], found.trace.producer(version)
    of_form = found.finding is not None and found.finding.check.property == "dtypes"
    if of_form or node.returned or node.operation == "load" or value.dtype < FLOATS or relation(value, right):
        return False
    return known.has(value, turned=False, in_parts=False)


def _hangs_on_number(trace: Trace, version: int, repaired: Callable[[int], Value | None]) -> bool:
    """Whether another whole number, which an earlier line computed, repairs the answer as well. A number that right
    answers hold somewhere may be another one by right, so that either line may be at fault."""
    line, waiting, visited = trace.producer(version).line, [version], {version}
    while waiting:
        for one in trace.operands[trace.values[waiting.pop()].event]:
            if one in visited:
                continue
            visited.add(one)
            node, value = trace.producer(one), trace.values[one]
            if node.line == line or node.operation == "load":
                waiting += [one] * (not is_input(trace, one))
            elif node.operation in ARITHMETIC and _is_whole_number(value) and repaired(one) is not None:
                return True
    return False


def _is_whole_number(value: Value) -> bool:
    return value.kind == PLAIN and value.size == 1 and 0 < value.dtype < FLOATS


def _is_of_a_later_step(trace: Trace, version: int, right: Value, right_traces: Sequence[Trace]) -> bool:
    """Whether the value is made of inputs alone by one operation, and right answers make what repairs the answer by
    another one from what they computed before: steps that follow may leave a later value as it is, whatever they do.

    A value that is returned, or that follows from the other one by a known relation, is that other one's counterpart.
    """
    node, value = trace.producer(version), trace.values[version]
    if node.returned or not _is_first_step(trace, version) or relation(value, right):
        return False
    made = [(one, at) for one in right_traces for at, other in enumerate(one.values)
            if _is_same(other, right) and (one.producer(at).operation != "load" or is_input(one, at))]  # fmt: skip
    return bool(made) and not any(
        one.producer(at).operation == node.operation or _is_first_step(one, at) for one, at in made
    )


def _is_first_step(trace: Trace, version: int) -> bool:
    """Whether all that the value is made of are inputs, sizes and the like."""
    used = trace.operands[trace.values[version].event]
    several = (one for one in used if trace.values[one].kind == TENSOR or trace.values[one].size > 1)
    return all(is_input(trace, one) for one in several) and not any(_is_made(trace, one) for one in used)


def _is_same(other: Value, right: Value) -> bool:
    """Whether this is the value that was exchanged, perhaps in another shape."""
    if other.kind != right.kind or other.data is None or right.data is None or other.data.size != right.data.size:
        return False
    return np.array_equal(np.sort(other.data, None), np.sort(right.data, None), equal_nan=True)


def _collects_wrong_parts(trace: Trace, version: int, right: Value) -> bool:
    """Whether the value is put together from a list or the like, whose parts nobody compared, and has wrong entries.

    Wherever these went wrong, the right value in their collection's place repairs the answer. Right entries in a wrong
    order are the collecting line's own fault; of parts that another line collected, only with axes in a wrong order.
    """
    value = trace.values[version]
    made = [one for one in trace.operands[value.event] if _is_made(trace, one)]
    if value.data is None or right.data is None or not made:
        return False
    a, b, line = value.data, right.data, trace.producer(version).line
    if a.size != b.size or not np.allclose(np.sort(a, None), np.sort(b, None), equal_nan=True):
        return True
    return any(trace.producer(one).line != line for one in made) and not is_transpose_of(a, b)


def _is_made(trace: Trace, version: int) -> bool:
    """Whether this is something that was not recorded and that the student's code made: a list or the like, or a tensor
    that is too large. What is only looked up (a dtype, a device, a part of a module) is not."""
    node = trace.producer(version)
    made = node.is_call or node.operation in COLLECTING or node.operation[:1].isupper()
    return made and trace.values[version].kind in (OPAQUE, TEXT)


def _is_set_elsewhere(trace: Trace, version: int, right: Value) -> bool:
    """Whether the value is set in parts, and the wrong ones are not what this line made, in any of its rounds: with the
    right value in place of the whole, the answer is right wherever they are set."""
    value = trace.values[version]
    if any(other.before == version and other.kind == TENSOR for other in trace.values):
        return True  # parts of it are set later
    earlier = value
    while earlier.before >= 0 and trace.node(earlier.event) is trace.node(value.event):
        earlier = trace.values[earlier.before]
    if earlier is value or earlier.data is None or value.data is None or right.data is None:
        return False
    if not earlier.data.shape == value.data.shape == right.data.shape:
        return False
    untouched = (earlier.data == value.data) | (np.isnan(earlier.data) & np.isnan(value.data))
    return bool((untouched & ~np.isclose(value.data, right.data, equal_nan=True)).any())


def _calls_what_was_changed(trace: Trace, version: int) -> bool:
    """Whether the line calls an object from outside that the answer has used for something else before: what that did
    to it is not recorded, and may be what is wrong."""
    event = trace.values[version].event
    line = trace.producer(version).line
    called = {node.operation for node in trace.table.nodes if node.is_call and node.line == line}
    for at in range(event):
        node = trace.node(at)
        held = trace.values[trace.events[at].version]
        if node.operation == "load" and node.text in called and held.kind == OPAQUE and node.line != line:
            return True
    return False


def _arguments(trace: Trace, event: int | None) -> list[int]:
    """The computed tensors that were passed to the function in which the event happened, and to its callers."""
    found: list[int] = []
    while event is not None and (call := caller(trace, event)) is not None:
        frame = trace.events[event].frame
        given = [one for one in trace.operands[call] if trace.values[one].kind == TENSOR]
        outside = (one for one in given if trace.events[trace.values[one].event].frame != frame)
        found += [one for one in outside if trace.values[one].event < event and not is_input(trace, one)]
        event = call
    return list(dict.fromkeys(found))


def places(found: FaultLocation) -> list[int]:
    """The versions to exchange: what is thought to be wrong, what departs, and what the same line makes of it.

    A square value that is known only with its axes exchanged comes first: it may be what is wrong.
    """
    trace, faulty, departs = found.trace, found.faulty_version, found.departure
    assert trace is not None
    wanted = [] if faulty is None else [faulty.version]
    if departs is not None:
        line = trace.producer(departs.version).line
        wanted += [departs.version, *(one for one in departs.met if trace.producer(one).line == line)]
    elif found.event is not None:
        wanted.append(trace.events[found.event].version)
    turned = [one for version in wanted for one in trace.operands[trace.values[version].event]
              if _is_turned(trace.values[one], found.right_traces)]  # fmt: skip
    if turned:
        wanted = turned  # with these wrong, the line that uses them need not be
    return [one for one in dict.fromkeys(wanted) if trace.values[one].kind in (TENSOR, PLAIN)]


def _is_turned(value: Value, right_traces: Sequence[Trace]) -> bool:
    """Whether right answers compute this value with its axes in another order, and never as it is."""
    data = value.data
    if data is None or data.ndim < 2 or not is_rich(value):
        return False
    known = {key(other) for right in right_traces for other in right.values}
    orders = (order for order in permutations(range(min(data.ndim, 4))) if order != tuple(range(data.ndim)))
    others = (data.transpose(order) for order in orders if data.ndim <= 4)
    turned = any(key(replace(value, data=one, key=None)) in known for one in others if one.shape == data.shape)
    return turned and key(value) not in known


def _exchanges(trace: Trace, version: int, found: FaultLocation) -> Iterator[tuple[Value, list[Swap]]]:
    """Right values for this version, the likely ones first, each with the exchange that it takes."""
    value, number = trace.values[version], trace.events[trace.values[version].event].node
    times = [index for index, event in enumerate(trace.events) if event.node == number]
    nth = times.index(value.event) + 1
    for right, data in _candidates(trace, version, found):
        for dtype in dict.fromkeys((right.dtype, value.dtype)):
            yield _like(right, data), [(number, nth, as_tensor(data, dtype))]
    for right, slices in _in_rounds(trace, times, version, found):
        swaps = [(number, n, as_tensor(data, right.dtype)) for n, data in enumerate(slices, 1)]
        yield _like(right, slices[nth - 1]), swaps


def _like(right: Value, data: np.ndarray) -> Value:
    """The right value as it is exchanged, in the shape of the student's, which therefore is not what is wrong."""
    return replace(right, data=data, key=None)


def _candidates(trace: Trace, version: int, found: FaultLocation) -> Iterator[tuple[Value, np.ndarray]]:
    """The values of right answers that have this shape, with their axes in any order, and are not this value."""
    value, operation = trace.values[version], trace.producer(version).operation
    faulty = found.faulty_version
    first = [faulty.replacement] if faulty is not None and faulty.version == version and faulty.replacement else []
    every = [(right, at, other) for right in found.right_traces for at, other in enumerate(right.values)]
    alike = [other for right, at, other in every if right.producer(at).operation == operation]
    visited = {key(value)} if found.finding is None or found.finding.check.property != "dtypes" else set()
    for other in (*first, *alike, *(other for _, _, other in every)):
        if other.kind != value.kind or other.data is None or value.data is None or key(other) in visited:
            continue
        if 0 < value.dtype < FLOATS and (other.data != np.round(other.data)).any():
            continue  # no count is a measured number, whatever a division by that makes of the answer
        data = _in_shape(other.data, value.data.shape)
        if data is not None:
            visited.add(key(other))
            yield other, data


def _in_shape(data: np.ndarray, shape: Sequence[int]) -> np.ndarray | None:
    """The data with its axes in the order of this shape, if that is clear."""
    if data.shape == tuple(shape):
        return data
    if data.size > 1 and [n for n in data.shape if n != 1] == [n for n in shape if n != 1]:
        return data.reshape(shape)
    if sorted(data.shape) != sorted(shape) or len(set(shape)) < len(shape) or data.ndim > 4:
        return None
    return next(data.transpose(order) for order in permutations(range(data.ndim))
                if data.transpose(order).shape == tuple(shape))  # fmt: skip


def _in_rounds(
    trace: Trace, times: Sequence[int], version: int, found: FaultLocation
) -> Iterator[tuple[Value, list[np.ndarray]]]:
    """Values for each time that a line of a loop runs: a right answer's whole one in slices, or one from each round."""
    value = trace.values[version]
    if len(times) < 2 or value.data is None:
        return
    for right in found.right_traces:
        for other in right.values:
            if other.kind != value.kind or other.data is None:
                continue
            for axis, size in enumerate(other.data.shape):
                if size == len(times) and other.data.shape[:axis] + other.data.shape[axis + 1 :] == value.data.shape:
                    yield other, list(np.moveaxis(other.data, axis, 0))
        yield from _same_rounds(right, value, len(times))


def _same_rounds(right: Trace, value: Value, count: int) -> Iterator[tuple[Value, list[np.ndarray]]]:
    """Of each line that a right answer runs as often, its values of this shape."""
    made: dict[int, list[Value]] = {}
    for event in right.events:
        made.setdefault(event.node, []).append(right.values[event.version])
    for values in made.values():
        data = [one.data for one in values if one.kind == value.kind and one.data is not None]
        assert value.data is not None
        if len(data) == len(values) == count and all(one.shape == value.data.shape for one in data):
            yield values[0], data


def as_tensor(data: np.ndarray, dtype: int) -> torch.Tensor:
    """A value of a trace as the code gets it; `dtype`: its place in DTYPES."""
    return torch.from_numpy(np.ascontiguousarray(data).copy()).reshape(data.shape).to(DTYPES[dtype])


def _blamed(found: FaultLocation, version: int, right: Value) -> FaultLocation:
    """The location of this version, of which it is known what it should be; or of the call that leads there."""
    trace, faulty = found.trace, found.faulty_version
    assert trace is not None
    if faulty is not None and faulty.unfinished and faulty.version == version:
        return replace(found, sure=True)
    event = trace.values[version].event
    call = _call_at_fault(trace, event, found.right_traces.values())
    node = trace.node(event if call is None else call)
    place = replace(found, cell=node.cell, line=node.line, event=event, sure=True)
    if call is not None:
        return replace(place, event=call, faulty_version=None, misused=node.operation)
    if _differs_inside(trace, event, found.right_traces):
        place = replace(place, built=node.operation)
    return replace(place, faulty_version=FaultyVersion(version, right))


def _differs_inside(trace: Trace, event: int, right_traces: Sequence[Trace]) -> bool:
    """Whether a right answer makes another value of the same ones with a part of this name."""
    node, used = trace.node(event), {key(trace.values[one]) for one in trace.operands[event]}
    if not node.is_call:
        return False
    given = {one for one in used if one}
    for right in right_traces:
        for index, other in enumerate(right.events):
            if (
                right.node(index).operation == node.operation
                and given <= {key(right.values[one]) for one in right.operands[index]}
                and key(right.values[other.version]) != key(trace.values[trace.events[event].version])
            ):
                return True
    return False


def _call_at_fault(trace: Trace, event: int, known: KnownValues) -> int | None:
    """The call in which this code goes wrong, if the code is right in its calls from other lines."""
    found = None
    while (call := caller(trace, event)) is not None:
        outcomes: dict[int, list[bool]] = {}
        for index, other in enumerate(trace.events):
            if other.node == trace.events[event].node and (at := caller(trace, index)) is not None:
                value = trace.values[other.version]
                outcomes.setdefault(trace.events[at].node, []).append(is_rich(value) and known.has(value))
        here = outcomes.pop(trace.events[call].node, [True])
        if any(here) or not outcomes or not all(all(values) for values in outcomes.values()):
            break
        found = event = call
    return found
