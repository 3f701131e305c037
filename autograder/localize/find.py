"""Finds the line at which a failed answer departs from right ones, by running it again with its values recorded."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from torch import Tensor
from torch.utils._pytree import tree_flatten

from autograder.api import Exercise
from autograder.checks.compare import RaisedError, agree
from autograder.checks.local import LocalSubject
from autograder.checks.probe import FATAL, Answer, Case, Finding, Probe, observe
from autograder.checks.properties.parameters import PARAMETERS
from autograder.checks.reference import reference_of
from autograder.diagnosis.diagnose import is_of_cost
from autograder.diagnosis.evidence import fresh_questions
from autograder.exercises import injected_modules
from autograder.exercises.answers import answers
from autograder.exercises.parse import parse_source
from autograder.localize.align import (
    Departure,
    FaultyVersion,
    RightTraces,
    Rules,
    caller,
    departs_only_in_form,
    departure,
    find_faulty_operand,
    first_difference,
    roots,
)
from autograder.localize.decision import StudentAnswers, decide
from autograder.localize.instrument import InstrumentedCode, Node, instrument
from autograder.localize.location import FaultLocation
from autograder.localize.trace import BadTrace, Trace, trace_answer
from autograder.localize.verify import verify, verify_again
from autograder.sandbox.client import StudentError

UNEXCHANGED = ("purity", "cost", "gradients")  # what no exchange of a value repairs
LARGEST_CASE = 2000  # numbers in the inputs of the question that is repeated


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
        return _parameter(answer, cells)
    found = _asked_again(exercise, finding, answer, subject, cells, without, elsewhere, right)
    shown = None if finding.check.draw else finding.shrunk
    if found is None or not found.sure or found.trace is None or shown is None:
        return found
    # with the input that is shown, if it shows the same: larger ones decide, since few values are equal by chance
    return _on_example(exercise, found, shown, subject, cells, without, elsewhere) or found


def _on_example(
    exercise: Exercise, found: FaultLocation, answer: Answer, subject: Any, cells: Sequence[tuple[str, str]],
    without: Sequence[str], elsewhere: Collection[str],
) -> FaultLocation | None:  # fmt: skip
    """The same fault with the values of this question; None where these do not show it."""
    traced = _traced(exercise, answer, subject, cells, without)
    if traced is None:
        return None
    trace, actual, probe, expected = traced
    if isinstance(actual, RaisedError) or found.error:
        return None
    small = _first(trace, right_traces(exercise, probe, expected), found.finding, elsewhere)  # type: ignore[arg-type]
    return None if small is None else verify_again(small, found, subject, probe, expected)


def _asked_again(
    exercise: Exercise, finding: Finding, answer: Answer, subject: Any, cells: Sequence[tuple[str, str]],
    without: Sequence[str], elsewhere: Collection[str], right: Collection[str],
) -> FaultLocation | None:  # fmt: skip
    """The first line that departs for this question."""
    drawn = finding.check.draw is not None
    traced = _traced(exercise, answer, subject, cells, without, drawn)
    if traced is None:
        return None
    trace, actual, probe, expected = traced
    found = _first(trace, right_traces(exercise, probe, expected), finding, elsewhere)
    if found is None:
        return None
    if not found.sure and finding.check.property not in UNEXCHANGED:
        found = verify(found, subject, probe, expected)
        if found.built:
            found = _where_built(found, cells)
    if isinstance(actual, RaisedError) and (found.error or not found.sure):
        found = _raised(found, actual.message, elsewhere)
    if finding.check.property == "values" and found.cell not in elsewhere:
        asked = StudentAnswers(subject, probe, expected, _fresh(exercise, finding, drawn))
        found = decide(found, [pair for pair in cells if pair[0] not in elsewhere], asked)
    return _called(found, elsewhere, lambda node: _definition(cells, node) in right)


def _traced(
    exercise: Exercise, answer: Answer, subject: Any, cells: Sequence[tuple[str, str]], without: Sequence[str],
    drawn: bool = False,
) -> tuple[Trace, Any, Probe, Any] | None:  # fmt: skip
    """The trace of the answer to this question, what it gave, the question, and what is expected. `drawn`: the check
    tells what it found in a picture of its own, so that its case is asked for plain values."""
    probe = Probe(answer.probe.case.value, answer.probe.case) if drawn else answer.probe
    try:
        trace, actual = trace_answer(subject, instrument(cells, without), probe)
    except (BadTrace, StudentError, SyntaxError, ValueError, RecursionError):
        return None
    if isinstance(actual, RaisedError) and not isinstance(answer.actual, RaisedError):
        return None  # recorded, it took too long; the answer itself did not stop
    return trace, actual, probe, answer.expected if probe is answer.probe else observe(reference_of(exercise), probe)


def _fresh(exercise: Exercise, finding: Finding, drawn: bool) -> Iterator[tuple[Probe, Any]]:
    """Fresh questions of the check that failed; `drawn`: asked for plain values, as in `_traced`."""
    for probe, expected in fresh_questions(exercise, finding.check.name):
        plain = Probe(probe.case.value, probe.case) if drawn else probe
        yield plain, observe(reference_of(exercise), plain) if drawn else expected


def _where_built(found: FaultLocation, cells: Sequence[tuple[str, str]]) -> FaultLocation:
    """The only line that assigns the part `built` of a module, if it is one; of several lines none is sure."""
    text = dict(cells).get(found.cell, "")
    try:
        nodes = list(ast.walk(parse_source(text)))
    except (SyntaxError, ValueError, RecursionError):
        return found
    stored = [node for node in nodes if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)]
    made = [node.lineno for node in stored if node.attr == found.built]
    if not made:
        return replace(found, built="")
    return replace(found, line=made[0], event=None, faulty_version=None, sure=found.sure and len(made) == 1)


def _raised(found: FaultLocation, message: str, elsewhere: Collection[str]) -> FaultLocation:
    """The line that raised, with the last line of the traceback."""
    assert found.trace is not None
    stop = _stop(found.trace, elsewhere)
    if stop is None:
        return found
    told = message.splitlines()[0] if message else ""
    return replace(found, cell=stop.cell, line=stop.line, event=None, faulty_version=None, error=told, sure=True)


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
                    inside_right=is_right(entered), sure=found.sure or found.doubtful or is_right(entered))  # fmt: skip
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
    trace: Trace, rights: RightTraces, finding: Finding, elsewhere: Collection[str] = ()
) -> FaultLocation | None:
    root = roots(trace)
    if finding.check.property == "purity":
        return _changed(trace, finding)
    rules = Rules(finding.check.property == "dtypes", finding.check.property == "gradients")
    for strict in (False, True):
        found = departure(trace, rights.values(rules, strict), root)
        if found is not None:
            found = _whole(trace, found)
            wrong = departs_only_in_form(trace, found, rights) or find_faulty_operand(trace, found, rights)
            stop = _stop(trace, elsewhere)
            if stop is not None and not _says_why(wrong):
                return FaultLocation(stop.cell, stop.line, trace, rights, found, finding=finding)
            node = trace.producer(wrong.version) if wrong.event is None else trace.node(wrong.event)
            sure = rules.gradients and _detaches(trace, wrong)
            return FaultLocation(node.cell, node.line, trace, rights, found, wrong, found.event, finding, sure=sure)
    if trace.error is not None:
        stop = _stop(trace, elsewhere)
        if stop is None:
            return None
        return FaultLocation(stop.cell, stop.line, trace, rights, finding=finding)
    place = first_difference(trace, rights, root) if root else None
    if place is None:
        place = next((at for at in range(len(trace.events) - 1, -1, -1) if trace.node(at).returned), None)
    if place is None:
        return None
    return FaultLocation(trace.node(place).cell, trace.node(place).line, trace, rights, event=place, finding=finding)


def _detaches(trace: Trace, wrong: FaultyVersion) -> bool:
    """Whether this value is the first without a gradient: right answers' has one, and what it is made of has one."""
    value, other = trace.values[wrong.version], wrong.replacement
    made_of = [trace.values[one] for one in trace.operands[value.event]]
    return bool(other is not None and other.grad and not value.grad and any(one.grad for one in made_of))


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
            return FaultLocation(node.cell, node.line, trace, event=value.event, finding=finding, sure=True)
    return None


def _parameter(answer: Answer, cells: Sequence[tuple[str, str]]) -> FaultLocation | None:
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
        return FaultLocation(cell, min(made or [node.lineno for node in inside] or [owner.lineno]), sure=bool(made))
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
        not finding.check.core,  # ordinary values, if these are wrong
        isinstance(answer.actual, RaisedError),  # wrong values say more
        answer.probe.with_case is None and finding.check.property == "values",
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


def right_traces(exercise: Exercise, probe: Probe, expected: Any) -> RightTraces:
    """The traces of our right answers and of the reference for the same question, without those that cannot be
    traced. An answer that is wrong at edges alone counts where it gives what is expected."""
    found = []
    for table, at_edges in _tables(exercise):
        try:
            trace, given = trace_answer(LocalSubject({"__name__": "answer"}), table, probe)
        except (BadTrace, StudentError):
            continue
        if trace.error is None and (not at_edges or agree(expected, given, probe.tolerance)):
            found.append(trace)
    return RightTraces(found)


@lru_cache(maxsize=128)
def _tables(exercise: Exercise) -> tuple[tuple[InstrumentedCode, bool], ...]:
    """Right answers, the reference last, each with whether it is wrong at edges."""
    texts = [(path.read_text(encoding="utf-8"), way == "edge")
             for way in ("right", "edge") for path in answers(exercise, way)]  # fmt: skip
    texts.append((injected_modules.source([exercise])[0], False))
    return tuple((instrument([("right", text)], whole=True), at_edges) for text, at_edges in texts)
