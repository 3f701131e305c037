"""Compares a failed answer's trace with those of right answers, and finds the first value that departs from them.

A right answer may be written with loops, einsum or batches, so values are compared, not operations: a value is known
if a right answer computed it too, with its axes in any order, as a slice, or as all slices. From the wrong result the
search goes back from each value to its operands, and stops at known values. The values on the way are wrong, or are
computed differently than in any right answer; the answer departs at the earliest of them.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, islice, permutations

import numpy as np

from autograder.localize.recorder import EVENTS, FLOATS, LARGEST, OPAQUE, PLAIN, TENSOR, TEXT
from autograder.localize.trace import Trace, Value

STANDS_FOR_NAN, STANDS_FOR_LOWEST = -17.77, 37.37
LOWEST = 3e4  # a score this low or lower masks; minus infinity, -1e9 and a dtype's lowest are the same
TOLERANCE = {6: 3e-2, 7: 6e-2}  # float16, bfloat16
EXACT = 3e-5
MOST_AXES = 4
MOST_ALIKE = 100  # limits on operations, and on values of one shape, of a right answer
DEEPEST = 12  # operations from a departing one back to its inputs


@dataclass(frozen=True)
class Rules:
    """What else must agree for a value to count as known, depending on the failed check."""

    dtypes: bool = False
    gradients: bool = False


DIRECTIONS = np.random.default_rng(0).standard_normal((2, LARGEST))  # on which values are projected


def _directions(size: int) -> np.ndarray:
    """Two fixed random vectors [2,size]."""
    return DIRECTIONS[:, :size]


def _plain(data: np.ndarray) -> np.ndarray:
    """Replaces huge and non-finite numbers by ordinary ones, so that the others stay distinguishable."""
    if np.abs(data).max(initial=0.0) < LOWEST:  # nearly always; NaN is not less
        return data
    data = np.where(np.isnan(data), STANDS_FOR_NAN, data)
    return np.where(np.abs(data) >= LOWEST, np.sign(data) * STANDS_FOR_LOWEST, data)


def _finite(data: np.ndarray) -> np.ndarray:
    """As `_plain`, but finite numbers stay as they are, up to the range in which products do not overflow."""
    return np.clip(np.where(np.isfinite(data), data, _plain(data)), -1e100, 1e100)


def _kind(value: Value, rules: Rules) -> tuple:
    return (
        value.kind == TEXT,
        value.dtype if rules.dtypes and value.kind == TENSOR and value.dtype >= FLOATS else None,
        value.grad if rules.gradients and value.kind == TENSOR and value.dtype >= FLOATS else None,
    )


class KnownValues:
    """The values that right answers computed, and their slices along one or two axes.

    `strict`: only whole values in their own shape count, and all very low numbers are distinguished.
    """

    def __init__(self, traces: Sequence[Trace], rules: Rules = Rules(), strict: bool = False) -> None:
        self.rules, self.strict = rules, strict
        found: dict[tuple, list[tuple[float, float]]] = defaultdict(list)
        for data, kind in _different_values(traces, rules):
            for forms, projected in self._parts(data):
                for form in forms:
                    found[form, kind].extend(map(tuple, projected.T.tolist()))
        self.found = {key: sorted(set(pairs)) for key, pairs in found.items()}

    def has(self, value: Value, turned: bool = True, in_parts: bool = True, in_shape: bool = False) -> bool:
        """Whether a right answer computed this value, with any order of axes, or each of its slices.

        `turned`: axes of one size may be exchanged, too, so that a matrix is known if its transpose is. `in_parts`:
        slices may be known one by one, in any order; right rows in wrong places then make a known matrix. `in_shape`:
        its shape must be that of the right value, too, since the same numbers in another shape may be mixed up.
        """
        if value.data is None:
            return False
        tolerance, kind = TOLERANCE.get(value.dtype, EXACT), _kind(value, self.rules)
        if self.strict:
            return self._holds(_finite(value.data), value.data.shape, kind, tolerance)
        data = _plain(value.data).squeeze()
        if data.ndim > MOST_AXES:
            return False
        orders = (one for one in permutations(range(data.ndim)) if turned or _keeps_equal_axes(one, data.shape))
        turns = (data.transpose(order) for order in orders)
        if any(self._holds(turn, turn.shape if in_shape else data.size, kind, tolerance) for turn in turns):
            return True
        if not in_parts or (not turned and len(set(data.shape)) < data.ndim):
            return False  # the rows of a matrix are the columns of its transpose
        return any(
            all(self._holds(part, part.size, kind, tolerance) for part in np.moveaxis(data, axis, 0))
            for axis in range(data.ndim - 1)
        )

    def _parts(self, data: np.ndarray) -> Iterator[tuple[Sequence[int | tuple], np.ndarray]]:
        """What can be asked for, the number of entries or their shape, and the projections."""
        if not self.strict:
            for shape, projected in _parts(_plain(data)):
                yield (math.prod(shape), shape), projected
        elif data.size:
            yield [data.shape], _directions(data.size) @ _finite(data).reshape(-1, 1)

    def _holds(self, data: np.ndarray, form: int | tuple, kind: tuple, tolerance: float) -> bool:
        pairs = self.found.get((form, kind))
        if not pairs:
            return False
        flat = np.ascontiguousarray(data).reshape(-1)
        one, other = (_directions(flat.size) @ flat).tolist()
        margin = tolerance * (np.abs(flat).max(initial=0.0) + 1e-3) * flat.size**0.5 * 3
        at = bisect_left(pairs, (one - margin, -np.inf))
        while at < len(pairs) and pairs[at][0] <= one + margin:
            if abs(pairs[at][1] - other) <= margin:
                return True
            at += 1
        return False


class RightTraces(tuple[Trace, ...]):
    """The traces of right answers to one question, whose values are put in order once for all who look them up."""

    def values(self, rules: Rules = Rules(), strict: bool = False) -> KnownValues:
        """See `KnownValues`."""
        made: dict[tuple[Rules, bool], KnownValues] = self.__dict__.setdefault("_known", {})
        if (rules, strict) not in made:
            made[rules, strict] = KnownValues(self, rules, strict)
        return made[rules, strict]


def _different_values(traces: Sequence[Trace], rules: Rules) -> Iterator[tuple[np.ndarray, tuple]]:
    """The values of these traces with their kinds, each once: a variable that is read a hundred times is one value."""
    seen = set()
    for trace in traces:
        for value in trace.values:
            if value.data is not None:
                kind = _kind(value, rules)
                key = value.data.shape, value.data.tobytes(), kind
                if key not in seen:
                    seen.add(key)
                    yield value.data, kind


def _keeps_equal_axes(order: Sequence[int], shape: Sequence[int]) -> bool:
    """Whether axes of one size stay in their order."""
    return all(one < other for one, other in combinations(order, 2) if shape[one] == shape[other])


def _parts(data: np.ndarray) -> Iterator[tuple[tuple[int, ...], np.ndarray]]:
    """(shape, projections [2,parts]) of the whole and of its slices along one axis, and along two."""
    data = data.squeeze()
    axes = range(data.ndim)
    for count in range(min(data.ndim, 2) + 1 if data.ndim <= MOST_AXES else 1):
        for chosen in combinations(axes, count):
            front = np.moveaxis(data, chosen, range(count)) if count else data
            size = math.prod(front.shape[count:])
            if size:
                yield front.shape[count:], _directions(size) @ front.reshape(-1, size).T


def is_rich(value: Value) -> bool:
    """Whether the value has so many distinct numbers that equality is hardly a coincidence."""
    if value.data is None:
        return False
    if value.kind == TEXT:
        return value.dtype >= 12  # characters
    if value.data.size < 3:
        return value.dtype >= FLOATS and bool((np.abs(_plain(value.data)) % 1 > 0).any())
    return len(np.unique(_plain(value.data))) >= (2 if value.dtype == 0 else 3)


@dataclass(frozen=True)
class Departure:
    """The version that departs, and those between it and the result, in order of time."""

    version: int
    event: int
    met: tuple[int, ...]


def departure(trace: Trace, known: KnownValues, root: Sequence[int]) -> Departure | None:
    """The first value that departs among those that led to the versions `root`; None if there is none."""
    stack, met, visited = list(root), [], set(root)
    while stack:
        version = stack.pop()
        value = trace.values[version]
        has = known.has(value)
        if value.kind != OPAQUE and value.data is not None and not has and not is_input(trace, version):
            met.append(version)
        if has and is_rich(value) and version not in root:
            continue
        for other in _operands(trace, version):
            if other not in visited:
                visited.add(other)
                stack.append(other)
    if not met:
        return None
    first = min(met, key=lambda version: trace.values[version].event)
    return Departure(first, trace.values[first].event, tuple(sorted(met, key=lambda one: trace.values[one].event)))


def is_input(trace: Trace, version: int) -> bool:
    """Whether it came from outside: a name whose value no recorded event made."""
    node = trace.producer(version)
    return node.operation == "load" and trace.values[version].before < 0


def _operands(trace: Trace, version: int) -> list[int]:
    value = trace.values[version]
    operands = [one for one in trace.operands[value.event] if one != version]
    return operands + ([value.before] if value.before >= 0 else [])


def first_difference(trace: Trace, right_traces: Sequence[Trace], root: Sequence[int]) -> int | None:
    """The first event without a match in any right answer: the same operation, operands and result.

    For cases in which each value is known but in the wrong position. It searches the events that led to the result,
    and the conditions around them, before all others.
    """
    known = {_step(right, at) for right in right_traces for at in range(len(right.events))}
    every = range(len(trace.events))  # searched too, since a loop without iterations produces nothing
    for indices in (sorted(_producers(trace, root)), every):
        for at in indices:
            if _step(trace, at) not in known and trace.node(at).operation != "load":
                return at
    return None


def _step(trace: Trace, index: int) -> tuple:
    """An operation, its operands' values and its result's, in a form that is equal for equal values."""
    used = tuple(key(trace.values[one]) for one in trace.operands[index])
    return trace.node(index).operation, used, key(trace.values[trace.events[index].version])


def key(value: Value) -> tuple:
    """A key that is the same for values equal to three digits; () for values that were not kept."""
    if value.key is None:
        flat = np.zeros(0) if value.data is None else _plain(value.data).reshape(-1)
        projected = float(_directions(flat.size)[0] @ flat)
        value.key = () if value.data is None else (value.kind, value.data.shape, f"{projected:.3g}")
    return value.key


def _producers(trace: Trace, root: Sequence[int]) -> set[int]:
    """The events that made these versions, and those of the enclosing conditions."""
    events: dict[int, list[int]] = defaultdict(list)
    for index, event in enumerate(trace.events):
        events[event.node].append(index)
    stack, visited, indices = list(root), set(root), set()
    while stack:
        version = stack.pop()
        index = trace.values[version].event
        indices.add(index)
        tests = [at for test in trace.node(index).tests for at in events.pop(test, [])]  # each condition once
        indices.update(tests)
        made = [*_operands(trace, version), *(trace.events[at].version for at in tests)]
        stack += [one for one in dict.fromkeys(made) if one not in visited]
        visited |= set(made)
    return indices | {index for index, event in enumerate(trace.events) if event.version in root}


@dataclass(frozen=True)
class FaultyVersion:
    """A wrong version, and the right answer's value for it, if there is one."""

    version: int
    replacement: Value | None = None
    event: int | None = None  # if another event is at fault: the call that omitted it
    unfinished: bool = False  # right in itself, but no right answer continues from it


def find_faulty_operand(trace: Trace, found: Departure, right_traces: Sequence[Trace]) -> FaultyVersion:
    """What is wrong about the operation that departs: its operand, if right answers use another one.

    Each operation is compared with the right answer's operation of the same name that shares most operands; from an
    operand that differs the search continues with the event that made it, in both.
    """
    index = found.event
    pairs = [(right, at) for right in right_traces for at in _similar_events(trace, index, right)]
    if (carried := _carried_over(trace, index, pairs)) is not None:
        return FaultyVersion(carried, unfinished=True)
    result = FaultyVersion(found.version, _best(trace, index, pairs))
    for _ in range(DEEPEST):
        best = max(pairs, key=lambda pair: _shared(trace, index, *pair)[0], default=None)
        if best is None:
            break
        shared, actual, expected = _shared(trace, index, *best)
        if shared and actual is None and expected is not None and _omits_argument(trace, index):
            return FaultyVersion(result.version, result.replacement, caller(trace, index))
        if not shared or actual is None or expected is None:
            break
        if not _is_operand_at_fault(trace, index, actual, best[0].values[expected]):
            break
        result = FaultyVersion(actual, best[0].values[expected])
        returned = _last_return(trace, actual, index)
        if returned is not None and any(
            key(one) == key(trace.values[actual]) for right in right_traces for one in right.values
        ):
            return FaultyVersion(actual, None, returned, unfinished=True)
        index, other = trace.values[actual].event, best[0].values[expected].event
        if trace.node(index).operation != best[0].node(other).operation:
            break
        pairs = [(best[0], other)]
    return _first_multiple(trace, result, right_traces)


def departs_only_in_form(trace: Trace, found: Departure, right_traces: Sequence[Trace]) -> FaultyVersion | None:
    """A right answer's value with equal numbers if the departing one differs only in dtype or gradient; else None."""
    value = trace.values[found.version]
    if value.kind != TENSOR or value.data is None:
        return None
    same = [other for right in right_traces for other in right.values if key(other) == key(value)]
    other = max(same, key=lambda one: (one.grad, one.dtype != value.dtype), default=None)
    differs = other is not None and (other.grad > value.grad or all(one.dtype != value.dtype for one in same))
    return FaultyVersion(found.version, other) if differs else None


def _last_return(trace: Trace, version: int, before: int) -> int | None:
    """The last return of a version by a function before an event."""
    given = (at for at in range(before - 1, -1, -1) if trace.events[at].version == version and trace.node(at).returned)
    return next(given, None)


def _carried_over(trace: Trace, index: int, pairs: Sequence[tuple[Trace, int]]) -> int | None:
    """A value from an earlier iteration of a loop from which no right answer continues in this way.

    It is right in itself, but a step is missing before the next iteration, or there should be none.
    """
    node = trace.node(index)
    used = _on_line(trace, index)
    frame = trace.events[index].frame
    later = [one for one in used if trace.producer(one).line > node.line and is_rich(trace.values[one])]
    same_frame = [one for one in later if trace.events[trace.values[one].event].frame == frame]
    if not same_frame:
        return None
    right_keys = {key(right.values[one]) for right, at in pairs for one in _on_line(right, at)}
    unused = [one for one in same_frame if key(trace.values[one]) not in right_keys]
    return unused[-1] if len(unused) == len(same_frame) else None


def _on_line(trace: Trace, index: int) -> list[int]:
    """The versions from other lines that a line used for this event."""
    line, found, stack, visited = trace.node(index).line, list[int](), [index], {index}
    while stack:
        for version in trace.operands[stack.pop()]:
            at = trace.values[version].event
            if trace.node(at).line != line:
                found.append(version)
            elif at not in visited and len(visited) < MOST_ALIKE:
                visited.add(at)
                stack.append(at)
    return found


def _is_operand_at_fault(trace: Trace, index: int, operand: int, expected: Value) -> bool:
    """Whether the fault is in the operand: a multiple of the right one, or one passed on by another function.

    Otherwise a step between the two is missing.
    """
    value = trace.values[operand]
    if factor(value, expected) is not None:
        return True
    elsewhere = trace.events[value.event].frame != trace.events[index].frame
    if value.data is None or value.data.size < 2 or not (elsewhere or not is_rich(value)):
        return False  # few numbers may be right by chance
    both = value.dtype == expected.dtype == 0 and expected.data is not None and value.data.shape == expected.data.shape
    return not (both and (value.data != expected.data).all())  # a missing `~` shows where the value is used


def _first_multiple(trace: Trace, result: FaultyVersion, right_traces: Sequence[Trace]) -> FaultyVersion:
    """Back to the first value that is too large by the same factor."""
    value = trace.values[result.version]
    times = None if result.replacement is None else factor(value, result.replacement)
    if times is None:
        result = _multiple_of(trace, result.version, right_traces, None) or result
        times = None if result.replacement is None else factor(value, result.replacement)
    for _ in range(DEEPEST if times is not None else 0):
        operands = trace.operands[trace.values[result.version].event][:8]
        before = (_multiple_of(trace, one, right_traces, times) for one in operands if one != result.version)
        one = next((found for found in before if found is not None), None)
        if one is None:
            break
        result = one
    return result


def _multiple_of(
    trace: Trace, version: int, right_traces: Sequence[Trace], times: float | None
) -> FaultyVersion | None:
    value = trace.values[version]
    if value.data is None or value.data.size < 3 or is_input(trace, version):
        return None
    for right in right_traces:
        same = (one for one in right.values if one.data is not None and one.data.shape == value.data.shape)
        for other in islice(same, MOST_ALIKE):
            found = factor(value, other)
            if found is not None and (times is None or abs(found / times - 1) < 1e-3):
                return FaultyVersion(version, other)
    return None


def _omits_argument(trace: Trace, index: int) -> bool:
    """Whether an operand is an argument that was not passed."""
    used = [one for one in trace.operands[index] if is_input(trace, one)]
    return any(trace.values[one].kind == TEXT and trace.values[one].dtype == 4 for one in used)  # the text of None


def caller(trace: Trace, index: int) -> int | None:
    """The call of the function to which an event belongs; its value is that of the function's `return`.

    A number has a new version wherever it is computed: of one, the call is what is recorded next.
    """
    frame, given = trace.events[index].frame, None
    for at in range(index, len(trace.events)):
        event = trace.events[at]
        if given is None and event.frame == frame and trace.node(at).returned:
            given = event.version
        elif given is not None and event.frame != frame:
            if event.version == given:
                return at
            if trace.node(at).is_call and _same_number(trace.values[given], trace.values[event.version]):
                return at
    return None


def _same_number(one: Value, other: Value) -> bool:
    scalar = one.kind in (PLAIN, TEXT) and one.kind == other.kind and one.size == other.size == 1
    return scalar and key(one) == key(other)


def _similar_events(trace: Trace, index: int, right: Trace) -> list[int]:
    """The right answer's events of the same operation with a result of the same sizes."""
    operation, shape = trace.node(index).operation, sizes(trace.values[trace.events[index].version])
    like = (
        at
        for at, event in enumerate(right.events)
        if right.node(at).operation == operation and sizes(right.values[event.version]) == shape
    )
    return list(islice(like, MOST_ALIKE))


def _best(trace: Trace, index: int, pairs: Sequence[tuple[Trace, int]]) -> Value | None:
    """The result of the most similar operation of a right answer."""
    best = max(pairs, key=lambda pair: _shared(trace, index, *pair)[0], default=None)
    return None if best is None else best[0].values[best[0].events[best[1]].version]


def _shared(trace: Trace, index: int, right: Trace, other: int) -> tuple[int, int | None, int | None]:
    """The number of operands that agree, and the first two comparable ones that do not."""
    actual = [one for one in trace.operands[index] if trace.values[one].data is not None]
    expected = [one for one in right.operands[other] if right.values[one].data is not None]
    expected_keys = {key(right.values[one]) for one in expected}
    actual_keys = {key(trace.values[one]) for one in actual}
    shared = sum(1 + 2 * is_rich(trace.values[one]) for one in actual if key(trace.values[one]) in expected_keys)
    unmatched = [one for one in expected if key(right.values[one]) not in actual_keys]
    odd = [one for one in actual if key(trace.values[one]) not in expected_keys and not is_input(trace, one)]
    for one in odd:
        for two in unmatched:
            if factor(trace.values[one], right.values[two]) is not None:
                return shared + 4, one, two
    return shared, next(iter(odd), None), next(iter(unmatched), None)


def sizes(value: Value) -> tuple[int, ...] | None:
    """The sizes of its axes, in any order, without those of size 1."""
    return None if value.data is None else tuple(sorted(size for size in value.data.shape if size != 1))


def factor(value: Value, other: Value) -> float | None:
    """The constant factor between the value and `other`; None if there is none, or if it is 1."""
    if value.data is None or other.data is None or value.data.shape != other.data.shape or not is_rich(value):
        return None
    actual, expected = value.data, other.data
    hidden = ~(np.isfinite(expected) & (np.abs(expected) < LOWEST))
    if (hidden != ~(np.isfinite(actual) & (np.abs(actual) < LOWEST))).any():
        return None
    actual, expected = actual[~hidden], expected[~hidden]
    if actual.size < 3 or not expected.any():
        return None
    factor = float((actual @ expected) / (expected @ expected))
    close = np.abs(actual - factor * expected).max() <= 1e-3 * np.abs(actual).max()
    return factor if close and abs(factor) > 1e-6 and abs(factor - 1) > 1e-3 else None


def roots(trace: Trace) -> list[int]:
    """The versions of which the answer consists: the outermost function's result, or the inputs of an error."""
    if trace.error is not None:
        return _computed_before(trace, trace.error)
    if len(trace.events) >= EVENTS:  # the end was not recorded: whatever departs first
        return list(range(len(trace.values)))
    index = next((at for at in range(len(trace.events) - 1, -1, -1) if trace.node(at).returned), None)
    return [] if index is None else [trace.events[index].version]


def _computed_before(trace: Trace, statement: int) -> list[int]:
    """The values that a statement had computed when it raised."""
    last = {event.node: event.version for event in trace.events}
    stack, found = [statement], []
    while stack:
        node = trace.table.nodes[stack.pop()]
        for one in (*node.single_operands, *node.repeated_operands):
            if one in last:
                found.append(last[one])
            else:
                stack.append(one)
    return found
