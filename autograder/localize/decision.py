"""The decision in which a line differs: which operand, axis, size, side of a mask or order its author chose.

A decision is told as one change of the student's own values that makes the answer right: two axes exchanged, a softmax
along another axis, another variable in the place of one. It is said only if the change makes right every wrong answer
to fresh questions with other sizes, too, and spoils none that is right; so that no numbers are equal by chance.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np

from autograder.checks.compare import agree
from autograder.checks.probe import Probe
from autograder.exercises.parse import parse_source, stored_names
from autograder.localize.align import FaultyVersion, is_input, roots
from autograder.localize.location import FaultLocation
from autograder.localize.recorder import PLAIN, TENSOR
from autograder.localize.runs import (
    Decision,
    Made,
    Run,
    as_array,
    equal,
    is_named,
    is_number,
    made_of,
    may_replace,
    named_arguments,
    names_at,
    value_of,
)
from autograder.localize.trace import BadTrace, Trace, Value, repairs, trace_again
from autograder.localize.value_changes import EXCHANGED, IN_PLACE, IN_PLACE_OF_ONE, Edit, changes_of_value, says_always
from autograder.localize.verify import ARITHMETIC, Swap, Tries, as_tensor, places
from autograder.localize.words import relation_phrase
from autograder.sandbox.client import StudentError

MAX_EVENTS = 200_000  # of all runs together, counted so that a busy machine says the same
MAX_TRIES = 64  # changes that are tried on the question at hand
MAX_VERSIONS, MAX_LINES = 6, 4  # values, and lines, that are thought to be at fault
MAX_TIMES = 32  # rounds of a loop
FEWEST_WRONG, FEWEST = 3, 8  # wrong answers to fresh questions that the change makes right, and questions asked for it
MAX_ASKED = 20


@dataclass(frozen=True)
class LineChange:
    """Other values for some nodes of one line, and what is said of them."""

    node: int
    made: Mapping[int, Callable[[Run, int], Made | None]]  # node -> what it gives instead at one event
    says: Callable[[Sequence[Run]], str]  # "" where the runs do not tell what it should say
    version: int | None = None  # the value at fault, where it is this node's own
    of_line: bool = True  # whether the sentence is about the line, so that the value's name does not begin it

    def swaps(self, run: Run) -> list[Swap] | None:
        """What takes which place in this run; None if that is not known."""
        found: list[Swap] = []
        for node, made in self.made.items():
            times = [at for at, event in enumerate(run.trace.events) if event.node == node]
            values = [made(run, at) for at in times] if 0 < len(times) <= MAX_TIMES else [None]
            for n, value in enumerate(values, 1):
                if value is None:
                    return None
                found.append((node, n, as_tensor(*value)))
        return found


@dataclass
class StudentAnswers:
    """How the student's code answers: one question at hand, and fresh ones as they are needed."""

    subject: Any
    probe: Probe
    expected: Any
    fresh: Iterator[tuple[Probe, Any]]
    runs: list[tuple[Run, Probe, Any, bool]] = field(default_factory=list)  # the last says whether it was wrong

    def answers_to_fresh(self, trace: Trace) -> Iterator[tuple[Run, Probe, Any, bool]]:
        """The traced answers to fresh questions, which are kept for the next change."""
        yield from self.runs
        for probe, expected in self.fresh:
            if len(self.runs) >= MAX_ASKED:
                return
            try:
                again, actual = trace_again(self.subject, trace.table, probe)
            except (BadTrace, StudentError):
                continue
            wrong = not agree(expected, actual, probe.tolerance)
            self.runs.append((Run(again, named_arguments(again, probe.case)), probe, expected, wrong))
            yield self.runs[-1]


def decide(found: FaultLocation, cells: Sequence[tuple[str, str]], asked: StudentAnswers) -> FaultLocation:
    """The location with its `decision`, if one change explains the answers; then it is sure. Else as it is."""
    unfinished = found.faulty_version is not None and found.faulty_version.unfinished
    if found.trace is None or found.doubtful or found.built or found.inside or (found.sure and unfinished):
        return found
    here = Run(found.trace, named_arguments(found.trace, asked.probe.case))
    tries, left = Tries(found.trace, asked.subject, MAX_EVENTS), MAX_TRIES
    for change in _changes(found, here, cells):
        swaps = change.swaps(here)
        if swaps is None or _is_the_same(swaps, here):
            continue
        left -= 1
        if left < 0 or not tries.spend_one():
            break
        if repairs(asked.subject, asked.probe, swaps, asked.expected):
            runs = _upheld(change, here, asked, tries)
            if runs is not None and change.says(runs):
                return _decided(found, change, swaps, runs)
    return found


def _is_the_same(swaps: Sequence[Swap], run: Run) -> bool:
    """Whether these are the values that the code has there anyway."""
    times: dict[int, list[Value]] = {}
    for event in run.trace.events:
        times.setdefault(event.node, []).append(run.trace.values[event.version])
    return all(equal(as_array(new), times[node][n - 1].data) for node, n, new in swaps)


def _upheld(change: LineChange, here: Run, asked: StudentAnswers, tries: Tries) -> list[Run] | None:
    """The runs of which the change is true, the one at hand first; None if a fresh question refutes it, or if too few
    can be asked."""
    runs, wrong = [here], 0
    for run, probe, expected, is_wrong in asked.answers_to_fresh(here.trace):
        swaps = change.swaps(run)
        if swaps is None:
            continue
        if not tries.spend_one() or not repairs(asked.subject, probe, swaps, expected):
            return None
        runs.append(run)
        wrong += is_wrong
    return runs if wrong >= FEWEST_WRONG and len(runs) > FEWEST else None


def _decided(found: FaultLocation, change: LineChange, swaps: Sequence[Swap], runs: Sequence[Run]) -> FaultLocation:
    trace, version = runs[0].trace, change.version
    found = replace(found, decision=Decision(change.says, runs, None if change.of_line else version))
    if found.sure:
        return found
    node, faulty = trace.table.nodes[change.node], None
    if version is not None:
        value = trace.values[version]
        nth = [one.node for one in trace.events[: value.event + 1]].count(change.node)
        data = next(as_array(new) for _, n, new in swaps if n == nth)
        faulty = FaultyVersion(version, replace(value, data=data, key=None))
    return replace(found, cell=node.cell, line=node.line, event=None, faulty_version=faulty, misused="", sure=True)


def _changes(found: FaultLocation, here: Run, cells: Sequence[tuple[str, str]]) -> Iterator[LineChange]:
    """What may have been decided otherwise, the likeliest first."""
    trace = here.trace
    versions, sources = _versions(found, trace), dict(cells)
    for version in versions:
        yield from _of_value(found, here, version, sources.get(trace.producer(version).cell, ""))
    if found.sure:
        lines = [(found.cell, found.line)]
    else:
        made = [trace.producer(one) for one in versions]
        lines = list(dict.fromkeys([(found.cell, found.line), *((one.cell, one.line) for one in made)]))
    for cell, line in lines[:MAX_LINES]:
        yield from _other_operands(here, cell, line, sources.get(cell, ""))


def _versions(found: FaultLocation, trace: Trace) -> list[int]:
    """The values that may be wrong. Where none is sure, what they are made of, too, as it may only look right."""
    if found.error:
        wanted = [one for one in roots(trace) if not is_input(trace, one)]
    elif found.sure:
        return (
            [] if found.faulty_version is None or found.misused else _on_its_line(trace, found.faulty_version.version)
        )
    else:
        wanted = places(found)
    made_of = [one for version in wanted for one in trace.operands[trace.values[version].event]]
    every = [one for one in dict.fromkeys([*wanted, *made_of])
             if _is_made(trace, one)]  # fmt: skip
    return every[:MAX_VERSIONS]


def _is_made(trace: Trace, version: int) -> bool:
    """Whether the code makes this tensor, or this number, and does not only read or write it."""
    kind, node = trace.values[version].kind, trace.producer(version)
    return (kind == TENSOR and not is_input(trace, version)) or (
        kind == PLAIN and node.operation not in ("load", "constant")
    )


def _on_its_line(trace: Trace, version: int) -> list[int]:
    """The value at fault, and what its line makes it of; of a single number also what the line makes of it, such as a
    mask from a diagonal."""
    line, found = trace.producer(version).line, [version]
    for one in found:
        used = (other for other in trace.operands[trace.values[one].event] if trace.producer(other).line == line)
        found += [other for other in used if other not in found and _is_made(trace, other)]
    if trace.values[version].kind == PLAIN:
        found += [one for one, value in enumerate(trace.values) if value.kind == TENSOR
                  and trace.producer(one).line == line and version in trace.operands[value.event]]  # fmt: skip
    return found[:MAX_VERSIONS]


def _of_value(found: FaultLocation, here: Run, version: int, source: str) -> Iterator[LineChange]:
    """Changes of this value. Where the right one is known in this shape, only those that give it; of truths there may
    be several, since others overrule them later."""
    right, faulty, at = None, found.faulty_version, here.trace.values[version].event
    if found.sure and not found.error and faulty is not None and faulty.version == version:
        right = faulty.replacement
    is_related = right is not None and bool(relation_phrase(found))
    for told in changes_of_value(here, at, right, source):
        made = None if told.is_vague and is_related else made_of(here, at, told.edit)
        if made is None:
            continue
        known = None if right is None or right.data is None or right.data.shape != made.shape else right.data
        if known is None or np.isin(made, (0, 1)).all() or equal(made, known):
            number = here.trace.events[at].node
            yield LineChange(number, {number: _keeping_dtype(told.edit)}, told.says, version, told.of_line)


def _keeping_dtype(edit: Edit) -> Callable[[Run, int], Made | None]:
    def made(run: Run, at: int) -> Made | None:
        """The edited value with the dtype of the student's."""
        data = made_of(run, at, edit)
        return None if data is None else (data, value_of(run, at).dtype)

    return made


# -- changes of operands -----------------------------------------------------------------------------------------------


def _other_operands(here: Run, cell: str, line: int, source: str) -> Iterator[LineChange]:
    """Another variable in the place of one that the line reads, and two exchanged."""
    trace, local = here.trace, _local_names(source, line)
    first = {event.node: at for at, event in reversed(list(enumerate(trace.events)))}
    read = [(number, node) for number, node in enumerate(trace.table.nodes)
            if (node.cell, node.line) == (cell, line) and number in first and is_named(node)
            and is_number(value_of(here, first[number]))]  # fmt: skip
    places: dict[str, list[int]] = {}
    for number, node in read:
        places.setdefault(node.text, []).append(number)
    for (one, ones), (two, twos) in combinations(places.items(), 2):
        if may_replace(value_of(here, first[ones[0]]), value_of(here, first[twos[0]])):
            made = {**{number: _named(two) for number in ones}, **{number: _named(one) for number in twos}}
            yield LineChange(ones[0], made, partial(says_always, EXCHANGED, {"one": one, "other": two}))
    for number, node in read:
        at = first[number]
        for name, value in names_at(here, at).items():
            known = name in local or name.startswith("self.")
            if name == node.text or not known or not may_replace(value_of(here, at), value):
                continue
            if not any(_is_calculated(here.trace, one) for one in (value_of(here, at), value)):
                text = IN_PLACE if len(places[node.text]) == 1 else IN_PLACE_OF_ONE
                says = partial(says_always, text, {"wrong": node.text, "right": name})
                yield LineChange(number, {number: _named(name)}, says)


def _is_calculated(trace: Trace, value: Value) -> bool:
    """Whether this is a number that another line calculates, or counts, which may be what is wrong: another number
    there would make the answer right as well."""
    return value.kind == PLAIN and value.event >= 0 and trace.node(value.event).operation in {*ARITHMETIC, "each"}


def _named(name: str) -> Callable[[Run, int], Made | None]:
    def made(run: Run, at: int) -> Made | None:
        """What the variable holds at this event."""
        value = names_at(run, at).get(name)
        return None if value is None or value.data is None else (value.data, value.dtype)

    return made


def _local_names(source: str, line: int) -> set[str]:
    """The arguments and variables of the function in which the line is; empty if it is in none."""
    try:
        tree = parse_source(source)
    except (SyntaxError, ValueError, RecursionError):
        return set()
    around = [one for one in ast.walk(tree) if isinstance(one, ast.FunctionDef)
              and one.lineno <= line <= (one.end_lineno or one.lineno)]  # fmt: skip
    if not around:
        return set()
    inner = max(around, key=operator.attrgetter("lineno"))
    arguments = {one.arg for one in (*inner.args.posonlyargs, *inner.args.args, *inner.args.kwonlyargs)}
    return (arguments | stored_names(inner)) - {"self"}
