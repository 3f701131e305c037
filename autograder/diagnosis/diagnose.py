"""Finds the misconception: the wrong answer of an exercise that gives the student's result for every probe."""

from __future__ import annotations

import ast
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from autograder.api import BESIDES, SEPARATOR, UNCOMPARED, Exercise
from autograder.diagnosis.compose import find_combination
from autograder.exercises.answers import Answer, answers
from autograder.feedback.translate import say, translate_text

if TYPE_CHECKING:
    from autograder.checks.local import LocalSubject
    from autograder.checks.probe import Answer as Reply
    from autograder.checks.probe import Finding

HINT_SEPARATOR = f"\n\n{BESIDES} "
MAX_SHOWN = 64  # a counter-example with more numbers would not help a reader


@dataclass(frozen=True)
class Misconception:
    """A wrong answer's name and the sentence it has for the student."""

    name: str  # of several mistakes all names, for a report
    hint: str

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the mistakes, one by one."""
        return tuple(self.name.split(SEPARATOR))


def wrong_answers(exercise: Exercise) -> list[Answer]:
    """The files of the exercise's wrong submissions."""
    return answers(exercise, "wrong")


def edge_answers(exercise: Exercise) -> list[Answer]:
    """The exercise's answers that are wrong only at edge cases."""
    return answers(exercise, "edge")


def known_answers(exercise: Exercise) -> list[Answer]:
    """All answers that name a misconception: the wrong ones, and those that are wrong only at edge cases."""
    return [*wrong_answers(exercise), *edge_answers(exercise)]


def diagnose(
    exercise: Exercise, findings: Sequence[Finding], known: list[Answer] | None = None
) -> Misconception | None:
    """The misconception that gives the student's answers: to all probes, or else several mistakes that do so together,
    or else one that does so for all failed core probes, or for all edge cases where ordinary values are right.

    None if nothing fits. `known` are the answers to compare with, the exercise's own if it is not given.
    """
    failed = [finding for finding in findings if finding.failed]
    if not failed:
        return None
    every = [answer for finding in findings if finding.check.graded for answer in answers_to_compare(finding)]
    core = [answer for finding in failed if finding.check.core for answer in finding.failed]
    noisy = [a for f in failed for a in f.failed if isinstance(a.actual, dict) and a.actual.get("random numbers")]
    # where ordinary values are wrong too, the name of an edge case would hide the mistake that is behind them
    edges = [finding for finding in failed if finding.check.property == "edges" and not core]
    at_edges = [answer for finding in edges for answer in finding.answers]
    known = known_answers(exercise) if known is None else known
    if found := _named(exercise, every, known) or _together(exercise, every, known):
        return found
    for replies in (core, noisy, at_edges):  # code that uses random numbers never gives the same values again
        if found := _named(exercise, replies, known):
            return found
    ordinary = [finding for finding in failed if finding.check.core and finding.check.property == "values"]
    values = [answer for finding in ordinary for answer in finding.answers]
    return _together(exercise, core, known) or _named(exercise, values, known) or _together(exercise, values, known)


def answers_to_compare(finding: Finding) -> Sequence[Reply]:
    """The answers that distinguish mistakes at an acceptable cost.

    Checks of purity take long, and in a coarse dtype two right answers may lie on different sides of the tolerance.
    """
    return finding.failed if finding.check.property in UNCOMPARED else finding.answers


def diagnose_edge(exercise: Exercise, finding: Finding, known: list[Answer] | None = None) -> Misconception | None:
    """As `diagnose`, for an edge case that is not graded here: the mistake that gives the student's answers there."""
    differs = finding.check.property == "edges" and finding.mismatches
    known = known_answers(exercise) if known is None else known
    return _named(exercise, finding.answers, known) if differs else None


def _named(exercise: Exercise, replies: Sequence[Reply], known: list[Answer]) -> Misconception | None:
    for path in known if _tell(replies) else ():
        if _agrees(path, replies):
            return Misconception(path.stem, translate_text(student_sentence(path), exercise.folder))
    return None


def _together(exercise: Exercise, replies: Sequence[Reply], known: list[Answer]) -> Misconception | None:
    found = find_combination(known, replies) if _tell(replies) else None
    if found is None:
        return None
    hints = [translate_text(student_sentence(part), exercise.folder) for part in found.parts]
    return Misconception(found.stem, f"\n\n{say(BESIDES)} ".join(hints))


def _tell(replies: Sequence[Reply]) -> bool:
    """Whether these answers can name a mistake: crashes alone can't, since much different code stops alike."""
    from autograder.checks.probe import is_crash

    return not all(map(is_crash, replies))


def _agrees(path: Answer, replies: Sequence[Reply]) -> bool:
    from autograder.checks.probe import behaves_like, observe

    subject = subject_of(path)
    # answers that differ distinguish wrong answers fastest
    ordered = sorted(replies, key=lambda answer: answer.difference is None)
    return all(behaves_like(observe(subject, a.probe), a) for a in ordered)


@lru_cache(maxsize=256)
def subject_of(path: Answer) -> LocalSubject:
    """One of our own answers, in this process."""
    from autograder.checks.local import LocalSubject

    return LocalSubject.from_source(path.read_text(encoding="utf-8"), path.name)


def student_sentence(path: Answer) -> str:
    """The sentence for the student from a wrong answer: its docstring, in English."""
    return ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or path.stem.replace("_", " ")


def counterexample(exercise: Exercise, findings: Sequence[Finding], step: str | None = None) -> dict[str, Any] | None:
    """The simplest failing case: its inputs, the expected shape, the actual result, and which entries are wrong.

    `step`: which layer was the first to go wrong, where there are several. None where cost alone is too high: no
    value is wrong then.
    """
    shown = simplest([finding for finding in findings if not is_of_cost(finding)])
    if shown is None or shown.simplest is None:
        return None
    answer = shown.simplest
    case, difference = answer.probe.case, answer.difference
    assert difference is not None
    inputs = {name: shown_value(value) for name, value in _named_inputs(exercise, case).items()}
    return {
        "call": case.symbol if case.init is None else f"{case.symbol}({', '.join(map(str, case.init))})",
        "inputs": inputs,
        "order": list(inputs),
        "expected_shape": list(difference.shape) if difference.shape is not None else None,
        "entry": list(difference.where) if difference.where is not None else None,
        "off_by": difference.deviation
        if difference.deviation is not None and difference.deviation < float("inf")
        else None,
        "message": difference.message,
        "first_wrong_entry": list(difference.first) if difference.first is not None else None,
        "first_wrong_step": step,
        **_beside(answer),
    }


def _beside(answer: Any) -> dict[str, Any]:
    """The student's answer to this case, and which entries are wrong, without any values of the right answer."""
    from autograder.checks.compare import wrong_entries

    expected, actual, part = _first_wrong_part(answer.expected, answer.actual, answer.probe.tolerance)
    if not hasattr(actual, "numel") or actual.is_complex() or not 0 < actual.numel() <= MAX_SHOWN:
        return {"yours": None, "wrong": None}
    wrong = wrong_entries(expected, actual, answer.probe.tolerance)
    return {"yours": shown_value(actual.detach()), "part": part, "wrong": wrong.tolist() if wrong is not None else None}


def _first_wrong_part(expected: Any, actual: Any, tolerance: Any) -> tuple[Any, Any, str]:
    """Of several results the first that differs, as expected and as it is, and its place, such as `[1]`."""
    from autograder.checks.compare import compare

    place = ""
    while isinstance(actual, tuple) and isinstance(expected, tuple) and len(actual) == len(expected) > 0:
        pairs = list(zip(expected, actual, strict=True))
        index = next((n for n, pair in enumerate(pairs) if compare(*pair, tolerance) is not None), 0)
        (expected, actual), place = pairs[index], f"{place}[{index}]"
    return expected, actual, place


def is_of_cost(finding: Finding) -> bool:
    """Whether what failed is a cost, so that neither a value nor a line of it is wrong; a crash has a line."""
    from autograder.checks.probe import is_crash

    return finding.check.property == "cost" and not any(map(is_crash, finding.failed))


def simplest(findings: Sequence[Finding]) -> Finding | None:
    """The failed check whose counter-example has the fewest numbers, of ordinary values if these are wrong; a wrong
    entry says more than an exception."""
    return min((finding for finding in findings if finding.failed), key=_simplicity, default=None)


def _simplicity(finding: Finding) -> tuple[bool, bool, int]:
    answer = finding.simplest
    assert answer is not None
    return (
        not finding.check.core,
        answer.difference is None or answer.difference.where is None,
        answer.probe.case.size(),
    )


def _named_inputs(exercise: Exercise, case: Any) -> dict[str, Any]:
    from autograder.checks.reference import parameters_of, reference_of

    names = parameters_of(case, reference_of(exercise))
    return {**dict(zip(names, case.args, strict=False)), **case.kwargs}


def shown_value(value: Any) -> Any:
    """The value as JSON: a tensor as nested lists, a large one as its type and shape in words."""
    if hasattr(value, "numel"):
        if value.numel() > MAX_SHOWN:
            return f"{str(value.dtype).removeprefix('torch.')} tensor of shape {list(value.shape)}"
        return value.tolist() if not value.is_floating_point() else _rounded(value.tolist())
    if isinstance(value, (list, tuple)):
        return [shown_value(one) for one in value]
    if isinstance(value, dict):
        return {str(key): shown_value(one) for key, one in value.items()}
    if isinstance(value, (bool, int, float, str, type(None))):
        return value
    return str(getattr(value, "description", type(value).__name__))


def _rounded(tree: Any) -> Any:
    if isinstance(tree, list):
        return [_rounded(one) for one in tree]
    return round(tree, 4) if math.isfinite(tree) else str(tree)  # JSON has no nan
