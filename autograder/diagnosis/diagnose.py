"""Finds the misconception: the wrong answer of an exercise that gives the student's result for every probe."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from autograder.api import BESIDES, SEPARATOR, UNCOMPARED, Exercise
from autograder.checks.compare import agree, compare_form, values_agree, wrong_entries
from autograder.checks.probe import FORM_CHECK, Finding, NotRun, behaves_like, float_leaves, is_crash, observe_once
from autograder.checks.probe import Answer as Reply
from autograder.checks.properties.cost import OTHER_VALUES
from autograder.checks.reference import parameters_of, reference_of
from autograder.diagnosis.budget import ComputeBudget
from autograder.diagnosis.compose import MAX_UNITS, find_combination, subject_of
from autograder.exercises.answers import Answer, answers
from autograder.feedback.translate import say, translate_text

MEASURED = 2  # answers whose cost is counted, to know what a call costs
MAX_SHOWN = 64  # a counter-example with more numbers would not help a reader


@dataclass(frozen=True)
class Misconception:
    """A wrong answer's name and the sentence it has for the student."""

    name: str  # of several mistakes all names, for a report
    hint: str
    second_as_if: bool = False  # the second mistake's sentence already says only what the code does

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

    Where the failed probes' answers are names, counts or masks, which much different code gives, the mistake must give
    the right values that the student gives, too.

    None if nothing fits. `known` are the answers to compare with, the exercise's own if it is not given.
    """
    failed = [finding for finding in findings if finding.failed]
    if not failed:
        return None
    every = [answer for finding in findings if finding.check.graded for answer in answers_to_compare(finding)]
    core = [answer for finding in failed if finding.check.core for answer in finding.failed]
    core += [] if _hold_measurements(core) else _right_values(findings)
    noisy = [answer for finding in failed for answer in finding.failed if is_noisy(answer)]
    # where ordinary values are wrong too, the name of an edge case would hide the mistake that is behind them
    edges = [finding for finding in failed if finding.check.property == "edges" and not core]
    at_edges = [answer for finding in edges for answer in finding.answers]
    known = known_answers(exercise) if known is None else known
    budget = _budget(exercise, every)
    if found := _named(exercise, every, known) or _together(exercise, every, known, budget):
        return found
    for replies in (core, noisy, at_edges):  # code that uses random numbers never gives the same values again
        if found := _named(exercise, replies, known):
            return found if replies is at_edges else _with_the_rest(exercise, found, findings, known)
    ordinary = [finding for finding in failed if finding.check.core and finding.check.property == "values"]
    values = [answer for finding in ordinary for answer in finding.answers]
    found = _together(exercise, core, known, budget) or _named(exercise, values, known)
    found = found or _together(exercise, values, known, budget)
    if found is None and any(finding.check.property == "shapes" for finding in failed):
        found = _named(exercise, values, known, in_any_form=True)
    return found and _with_the_rest(exercise, found, findings, known)


def _hold_measurements(replies: Sequence[Reply]) -> bool:
    """Whether tensors of real numbers, which are not equal by chance, are among these answers; or there are none."""
    return not replies or any(float_leaves(one.actual) for one in replies)


def _right_values(findings: Sequence[Finding]) -> list[Reply]:
    """The ordinary values that the student's code gets right: a mistake that gets them wrong is not in it."""
    ordinary = [finding for finding in findings if finding.check.core and finding.check.property == "values"]
    return [answer for finding in ordinary for answer in finding.answers if answer not in finding.failed]


# Of what a named mistake does not explain, though it gives all ordinary values. Of side effects, gradients and edge
# cases nothing is said without a second mistake that gives them: the same mistake in other code may have others.
REST: dict[str | None, str] = {
    "purity": "",
    "shapes": "This mistake does not explain the shape or type of your result: {message}.",
    "dtypes": "This mistake does not explain the type of your result: {message}.",
    "gradients": "",
    "edges": "",
}


# at edges, and in gradients, one mistake can have the effects of two: the second one's sentence need not be true
MAY_FOLLOW = ("gradients", "edges")
AS_IF = "What else fails is as if the following were true; the first mistake may be its cause. {sentence}"


def _with_the_rest(
    exercise: Exercise, found: Misconception, findings: Sequence[Finding], known: list[Answer]
) -> Misconception:
    """The mistake, with the one that gives the first property that it does not explain, or a sentence on its type."""
    if len(found.names) > 1:
        return found
    failed = [finding for finding in findings if finding.failed]
    mistake = next(one for one in known if one.stem == found.name)
    for finding in sorted(failed, key=lambda finding: [*REST, finding.check.property].index(finding.check.property)):
        if finding.check.property in REST and not any(_explained(finding, mistake)):
            alike = [one for one in findings if one.check.property == finding.check.property]
            second = next((one for one in known if one != mistake and _gives_alone(one, finding, alike)), None)
            if second or REST[finding.check.property]:
                told = say(REST[finding.check.property], message=finding.message.rstrip("."))
                made = with_second(exercise, mistake, second or told)
                return _as_if(made) if second and finding.check.property in MAY_FOLLOW else made
    return found


def _as_if(found: Misconception) -> Misconception:
    """The same two mistakes, the second of which is told as what the code does."""
    besides = f"\n\n{say(BESIDES)} "
    first, _, second = found.hint.partition(besides)
    return replace(found, hint=besides.join((first, say(AS_IF, sentence=second))), second_as_if=True)


def with_second(exercise: Exercise, mistake: Answer, second: Answer | str) -> Misconception:
    """A mistake and what is wrong besides; one that is not collected has a sentence and no name."""
    both = [one for one in (mistake, second) if not isinstance(one, str)]
    hints = [translate_text(student_sentence(one), exercise.folder) for one in both]
    hints += [second] if isinstance(second, str) else []
    return Misconception(SEPARATOR.join(one.stem for one in both), f"\n\n{say(BESIDES)} ".join(hints))


def _gives_alone(one: Answer, finding: Finding, alike: Sequence[Finding]) -> bool:
    """Whether this mistake gives what failed, without another fault; of types those of all answers, the right ones to
    checks of the same property among them: who computes in float32 whatever comes in does so for float64, too."""
    every = (known for other in alike for known in _explained(other, one, other.answers))
    return all(_explained(finding, one, alone=True)) and (not _is_of_form(finding) or all(every))


def _is_of_form(finding: Finding) -> bool:
    return finding.check.name == FORM_CHECK or finding.check.property == "dtypes"


def _explained(
    finding: Finding, mistake: Answer, replies: Sequence[Reply] | None = None, alone: bool = False
) -> Iterator[bool]:
    """Of each of these answers, by default the failed ones, whether the mistake gives it; where its form is what
    counts, whether it gives this form, and `alone`: without another fault."""
    of_form = _is_of_form(finding)
    for one in finding.failed if replies is None else replies:
        try:
            made = observe_once(mistake, lambda: subject_of(mistake), one.probe)
        except NotRun:
            yield False
            continue
        if of_form:
            right = not alone or values_agree(one.expected, made, one.probe.tolerance)
            yield right and compare_form(made, one.actual) is None
        else:
            yield behaves_like(made, one)


def is_noisy(answer: Reply) -> bool:
    """Whether the answer says that the code draws random numbers."""
    return isinstance(answer.actual, dict) and bool(answer.actual.get("random numbers"))


def answers_to_compare(finding: Finding) -> Sequence[Reply]:
    """The answers that distinguish mistakes at an acceptable cost.

    Checks of purity take long, and in a coarse dtype two right answers may lie on different sides of the tolerance. A
    cost that was not measured, since the values on the long input are wrong, is an answer that none of our mistakes
    gives: their costs are counted on a small one.
    """
    if finding.check.property == "cost":
        return [one for one in finding.failed if one.actual != OTHER_VALUES]
    return finding.failed if finding.check.property in UNCOMPARED else finding.answers


def diagnose_edge(exercise: Exercise, finding: Finding, known: list[Answer] | None = None) -> Misconception | None:
    """As `diagnose`, for an edge case that is not graded here: the mistake that gives the student's answers there."""
    differs = finding.check.property == "edges" and finding.mismatches
    known = known_answers(exercise) if known is None else known
    return _named(exercise, finding.answers, known) if differs else None


def _named(
    exercise: Exercise, replies: Sequence[Reply], known: list[Answer], in_any_form: bool = False
) -> Misconception | None:
    for path in known if _tell(replies) else ():
        if _agrees(path, replies, in_any_form):
            return Misconception(path.stem, translate_text(student_sentence(path), exercise.folder))
    return None


def _budget(exercise: Exercise, replies: Sequence[Reply]) -> ComputeBudget:
    """What the search for several mistakes together may compute; a call is measured on the smallest wrong answers."""
    wrong = sorted((one for one in replies if one.difference is not None), key=lambda one: one.probe.case.size())
    return ComputeBudget(reference_of(exercise), wrong[:MEASURED], MAX_UNITS)


def _together(
    exercise: Exercise, replies: Sequence[Reply], known: list[Answer], budget: ComputeBudget
) -> Misconception | None:
    found = find_combination(known, replies, budget) if _tell(replies) else None
    if found is None:
        return None
    hints = [translate_text(student_sentence(part), exercise.folder) for part in found.parts]
    return Misconception(found.stem, f"\n\n{say(BESIDES)} ".join(hints))


def _tell(replies: Sequence[Reply]) -> bool:
    """Whether these answers can name a mistake: right ones alone can't, since right code gives them, too, nor can
    crashes alone, since much different code stops alike."""
    return any(one.difference is not None for one in replies) and not all(map(is_crash, replies))


def _agrees(path: Answer, replies: Sequence[Reply], in_any_form: bool) -> bool:
    """Whether the mistake gives these answers, or these values `in_any_form`: a mask, say, as numbers."""

    def is_given(one: Reply) -> bool:
        """Whether the mistake gives this answer."""
        made = observe_once(path, lambda: subject_of(path), one.probe)
        same_values = in_any_form and values_agree(made, one.actual, one.probe.tolerance)
        return same_values or behaves_like(made, one)

    # answers that differ distinguish wrong answers fastest
    return all(map(is_given, sorted(replies, key=lambda answer: answer.difference is None)))


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
        "message": shown.message_of(answer),
        "first_wrong_entry": list(difference.first) if difference.first is not None else None,
        "first_wrong_step": step,
        **_beside(answer),
    }


def _beside(answer: Any) -> dict[str, Any]:
    """The student's answer to this case, and which entries are wrong, without any values of the right answer."""
    expected, actual, part = _first_wrong_part(answer.expected, answer.actual, answer.probe.tolerance)
    if not hasattr(actual, "numel") or actual.is_complex() or not 0 < actual.numel() <= MAX_SHOWN:
        return {"yours": None, "wrong": None}
    wrong = wrong_entries(expected, actual, answer.probe.tolerance)
    return {"yours": shown_value(actual.detach()), "part": part, "wrong": wrong.tolist() if wrong is not None else None}


def _first_wrong_part(expected: Any, actual: Any, tolerance: Any) -> tuple[Any, Any, str]:
    """Of several results the first that differs, as expected and as it is, and its place, such as `[1]`."""
    place = ""
    while isinstance(actual, tuple) and isinstance(expected, tuple) and len(actual) == len(expected) > 0:
        pairs = list(zip(expected, actual, strict=True))
        index = next((n for n, pair in enumerate(pairs) if not agree(*pair, tolerance)), 0)
        (expected, actual), place = pairs[index], f"{place}[{index}]"
    return expected, actual, place


def is_of_cost(finding: Finding) -> bool:
    """Whether what failed is a cost, so that neither a value nor a line of it is wrong; a crash has a line."""
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
