"""Finds the line at which a failed answer departs from right ones, by running it again with its values recorded."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from torch import Tensor
from torch.utils._pytree import tree_flatten

from autograder.api import Exercise
from autograder.checks.compare import RaisedError
from autograder.checks.local import LocalSubject
from autograder.checks.probe import FATAL, Answer, Case, Finding, Probe
from autograder.checks.properties.parameters import PARAMETERS
from autograder.diagnosis.diagnose import is_of_cost
from autograder.exercises import injected_modules
from autograder.exercises.answers import answers
from autograder.exercises.parse import parse_source
from autograder.localize.align import (
    Departure,
    FaultyVersion,
    KnownValues,
    Rules,
    caller,
    departs_only_in_form,
    departure,
    find_faulty_operand,
    first_difference,
    roots,
)
from autograder.localize.instrument import InstrumentedCode, Node, instrument
from autograder.localize.trace import BadTrace, Trace, trace_answer
from autograder.sandbox.client import StudentError

LARGEST_CASE = 2000  # numbers in the inputs of the question that is repeated


@dataclass(frozen=True)
class FaultLocation:
    """The location of the fault, and the values compared there."""

    cell: str
    line: int
    trace: Trace | None = None
    right_traces: tuple[Trace, ...] = ()
    departure: Departure | None = None
    faulty_version: FaultyVersion | None = None
    event: int | None = None
    finding: Finding | None = None
    inside: str = ""  # the call in this line, if what departs is in the code of another cell
    inside_right: bool = False  # whether that code is known to be right, so that what it is given must be wrong


def find(
    exercise: Exercise, findings: Sequence[Finding], subject: Any, cells: Sequence[tuple[str, str]],
    without: Sequence[str] = (), elsewhere: Collection[str] = (), right: Collection[str] = (),
) -> FaultLocation | None:  # fmt: skip
    """The first line in `cells` that departs; None if it cannot be found. Runs the subject once more.

    `elsewhere`: the cells that answer other exercises. Of what departs in them, the line that calls it is found, if
    it is known what to say of that call. `right`: what they define without being at fault.
    """
    chosen = _chosen(findings)
    if chosen is None:
        return None
    finding, answer = chosen
    if finding.check.name == PARAMETERS:
        return _parameter(exercise, answer, cells)
    probe = answer.probe if finding.check.draw is None else Probe(answer.probe.case.value, answer.probe.case)
    try:
        trace, _ = trace_answer(subject, instrument(cells, without), probe)
    except (BadTrace, StudentError, ValueError, RecursionError):
        return None
    found = _first(trace, right_traces(exercise, probe), finding, elsewhere)
    return _called(found, elsewhere, lambda node: _definition(cells, node) in right)


def _called(
    found: FaultLocation | None, elsewhere: Collection[str], is_right: Callable[[Node], bool]
) -> FaultLocation | None:
    """The location; of one in another exercise's cell the call that leads there, if it is known what to say of it."""
    if found is None or found.cell not in elsewhere:
        return found
    trace, faulty, event = found.trace, found.faulty_version, found.event
    if trace is None or _only_form(trace, found):
        return None
    if faulty is not None:
        event = trace.values[faulty.version].event if faulty.event is None else faulty.event
    call = _call_outside(trace, event, elsewhere)
    if call is None:
        return None
    node, entered = trace.node(call[0]), trace.node(call[1])
    place = replace(found, cell=node.cell, line=node.line, event=None, faulty_version=None, inside=node.operation,
                    inside_right=is_right(entered))  # fmt: skip
    if found.finding is not None and found.finding.check.property == "purity":
        return place
    if faulty is None:  # a step that no right answer takes may be right
        return None
    return replace(place, faulty_version=replace(faulty, event=call[0]), inside="") if faulty.unfinished else place


def _call_outside(trace: Trace, event: int | None, elsewhere: Collection[str]) -> tuple[int, int] | None:
    """The call outside these cells during which an event inside them happened, and the event of the code it entered."""
    entered = event
    while event is not None and trace.node(event).cell in elsewhere:
        entered, event = event, caller(trace, event)
    if event is None or entered is None or not trace.node(event).is_call:
        return None
    return event, entered


def _definition(cells: Sequence[tuple[str, str]], node: Node) -> str:
    """The function or class of the cell, at its top level, in which the node is; "" if it is in none."""
    text = next((text for cell, text in cells if cell == node.cell), "")
    around = (one for one in parse_source(text).body if one.lineno <= node.line <= (one.end_lineno or one.lineno))
    return next((str(getattr(one, "name", "")) for one in around), "")


def _only_form(trace: Trace, found: FaultLocation) -> bool:
    """Whether the values are right, and only their dtype or gradient isn't."""
    if found.finding is not None and found.finding.check.property in ("dtypes", "gradients"):
        return True
    departs = found.departure
    return departs is not None and departs_only_in_form(trace, departs, found.right_traces) is not None


def _stop(trace: Trace, elsewhere: Collection[str]) -> Node | None:
    """The statement that raised; of another exercise's code, the one that called it."""
    nodes = (trace.table.nodes[number] for number in trace.errors)
    return next((node for node in nodes if node.cell not in elsewhere), None)


def _first(
    trace: Trace, rights: Sequence[Trace], finding: Finding, elsewhere: Collection[str] = ()
) -> FaultLocation | None:
    root = roots(trace)
    if finding.check.property == "purity":
        return _changed(trace, finding)
    rules = Rules(finding.check.property == "dtypes", finding.check.property == "gradients")
    for strict in (False, True):
        found = departure(trace, KnownValues(rights, rules, strict), root)
        if found is not None:
            found = _whole(trace, found)
            wrong = departs_only_in_form(trace, found, rights) or find_faulty_operand(trace, found, rights)
            stop = _stop(trace, elsewhere)
            if stop is not None and not _says_why(wrong):  # the line of the exception is known for sure
                return FaultLocation(stop.cell, stop.line, trace, tuple(rights), found, finding=finding)
            node = trace.producer(wrong.version) if wrong.event is None else trace.node(wrong.event)
            return FaultLocation(node.cell, node.line, trace, tuple(rights), found, wrong, found.event, finding)
    if trace.error is not None:
        stop = _stop(trace, elsewhere)
        if stop is None:
            return None
        return FaultLocation(stop.cell, stop.line, trace, tuple(rights), finding=finding)
    place = first_difference(trace, rights, root) if root else None
    if place is None:
        place = next((at for at in range(len(trace.events) - 1, -1, -1) if trace.node(at).returned), None)
    if place is None:
        return None
    return FaultLocation(
        trace.node(place).cell, trace.node(place).line, trace, tuple(rights), event=place, finding=finding
    )


def _says_why(wrong: FaultyVersion) -> bool:
    """Whether it is known what the value should be, or which argument was left out."""
    if wrong.unfinished:
        return False
    return wrong.event is not None or (wrong.replacement is not None and wrong.replacement.data is not None)


def _whole(trace: Trace, found: Departure) -> Departure:
    """Replaces a single number by the tensor that the same line computes from it, which is more informative."""
    line = trace.producer(found.version).line
    if trace.values[found.version].size > 1:
        return found
    others = (one for one in found.met if trace.producer(one).line == line and trace.values[one].size > 1)
    version = next(others, found.version)
    return Departure(version, trace.values[version].event, found.met)


def _changed(trace: Trace, finding: Finding) -> FaultLocation | None:
    """The line that changes an object from outside."""
    first = {value.before for value in trace.values if value.before >= 0}
    for number, value in enumerate(trace.values):
        before = value.before
        if before in first and trace.values[before].before < 0 and trace.producer(before).operation == "load":
            node = trace.producer(number)
            return FaultLocation(node.cell, node.line, trace, event=value.event, finding=finding)
    return None


def _parameter(exercise: Exercise, answer: Answer, cells: Sequence[tuple[str, str]]) -> FaultLocation | None:
    """The line that makes the first part with a wrong parameter, or the constructor that lacks it."""
    if not isinstance(answer.actual, dict):
        return None
    names = [key for key in {**answer.expected, **answer.actual} if answer.expected.get(key) != answer.actual.get(key)]
    parts = {key.split(".")[0] for key in names}
    for cell, text in cells:
        try:
            tree = parse_source(text)
        except (SyntaxError, ValueError, RecursionError):
            continue
        classes = (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
        owner = next((node for node in classes if node.name == answer.probe.case.symbol), None)
        if owner is None:
            continue
        stored = (
            node for node in ast.walk(owner) if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
        )
        made = [node.lineno for node in stored if node.attr in parts]
        inside = (node for node in ast.walk(owner) if isinstance(node, ast.FunctionDef) and node.name == "__init__")
        return FaultLocation(cell, min(made or [node.lineno for node in inside] or [owner.lineno]))
    return None


ORDER = {"values": 0, "shapes": 1, "dtypes": 2, "gradients": 3, "edges": 4, "purity": 5, "cost": 6}


def _chosen(findings: Sequence[Finding]) -> tuple[Finding, Answer] | None:
    """The failed question to ask again: on ordinary values if one failed, with inputs that avoid coincidences."""
    failed = [(finding, answer) for finding in findings for answer in finding.failed if not is_of_cost(finding)
              and getattr(answer.actual, "kind", None) not in FATAL]  # fmt: skip
    unloadable = [pair for pair in failed if pair[0].check.name == PARAMETERS and isinstance(pair[1].actual, dict)]
    return unloadable[0] if unloadable else min(failed, key=_rank, default=None)  # a class that cannot be loaded


def _rank(pair: tuple[Finding, Answer]) -> tuple:
    """The sort key: small questions first, and training, which calls the code many times, last."""
    finding, answer = pair
    size = answer.probe.case.size()
    small = size <= LARGEST_CASE and answer.probe.case.tensors()  # loops over lists take many steps
    return (
        isinstance(answer.actual, RaisedError),  # wrong values say more
        answer.probe.with_case is None and finding.check.property == "values",
        not finding.check.core,
        ORDER[finding.check.property],
        not small,
        _alike(answer.probe.case),
        -size if small else size,
    )


def _alike(case: Case) -> int:
    """The number of sizes that are equal by chance, which can make a wrong value look right."""
    tensors = [leaf for leaf in tree_flatten((case.args, case.kwargs))[0] if isinstance(leaf, Tensor)]
    sizes = {size for tensor in tensors for size in tensor.shape}
    within = sum(len(tensor.shape) - len(set(tensor.shape)) for tensor in tensors)
    plain = [one for one in tree_flatten((case.init or (), case.args, case.kwargs))[0] if type(one) is int]
    return within + sum(one in sizes for one in set(plain)) + (1 in sizes)


def right_traces(exercise: Exercise, probe: Probe) -> list[Trace]:
    """The traces of our right answers and of the reference for the same question, without those that cannot be
    traced."""
    found = []
    for table in _tables(exercise):
        try:
            trace, _ = trace_answer(LocalSubject({"__name__": "answer"}), table, probe)
        except (BadTrace, StudentError):
            continue
        if trace.error is None:
            found.append(trace)
    return found


@lru_cache(maxsize=128)
def _tables(exercise: Exercise) -> tuple[InstrumentedCode, ...]:
    texts = [path.read_text(encoding="utf-8") for way in ("right", "edge") for path in answers(exercise, way)]
    tables = [instrument([("right", text)], whole=True) for text in texts]
    return (*tables, instrument([("right", injected_modules.source([exercise])[0])], whole=True))
