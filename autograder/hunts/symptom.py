"""The symptom of a hunt, found by running the faulty code: what it gives for a small input, beside what right code
gives.

The exercise's checks draw the inputs, and the failing case is made as small as it goes. None of the sentences that the
unit has for its students is shown, since they explain the mistake.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import torch
from torch import Tensor

from autograder.api import Exercise
from autograder.checks.compare import RaisedError, WrongDevice, compare, loosen_form, wrong_entries
from autograder.checks.local import LocalSubject
from autograder.checks.probe import Answer, Check, Finding, QuestionSet, collect_answers, is_crash, questions
from autograder.checks.reference import reference_of
from autograder.checks.shrink import shrink_counterexample
from autograder.diagnosis.compose import subject_of
from autograder.diagnosis.diagnose import counterexample, shown_value, simplest
from autograder.diagnosis.limit import time_limit
from autograder.exercises import registry
from autograder.exercises.answers import answers
from autograder.exercises.contracts import with_adapter
from autograder.feedback.matrix import SECTION
from autograder.feedback.translate import say
from autograder.feedback.words import place, size
from autograder.hunts.make import Hunt

SECONDS = 30.0  # processor time of the faulty code, which may never end
WINDOW = 8  # rows and columns that are shown of a large tensor
LONGEST = 300  # characters of an exception's message
COSTLY = ("purity", "cost", "dtypes")  # asked only if nothing else shows the fault
RAISES = "It stops with {error}; right code gives a result."
RAISES_NOT = "It gives a result; right code stops with an error here."
OTHER_SHAPE = "Its result has shape {faulty}; that of right code has shape {right}."
OTHER_TYPE = "Its result is of type {faulty}; that of right code is of type {right}."
TENSOR = "{dtype} tensor"
OTHER_LENGTH = "Its result has {faulty} parts; that of right code has {right}."
OTHER_VALUES = "{wrong} of {count} entries differ from those of right code, the first at {place}."
PARAMETERS = "Both have the same parameters, which were drawn."
SMALL = "The difference is too small for the digits that are shown here: {by} at most."
OTHER_NUMBER = "It gives {faulty}; right code gives {right}."
OTHER = "Its result is not that of right code."
LEAKS = "Changing the input at position {input} changes the output at position {output}; with right code it does not."
DEAF = (
    "Changing the input at position {input} does not change the output at position {output}; with right code it does."
)
OTHER_TEXT = (
    "Changing the input at position {input} of one text changes the output at position {output} of another one."
)


@dataclass(frozen=True)
class Symptom:
    """What is seen when the faulty code runs. Values are as in JSON; `part`: of the result, such as `[1]`."""

    seen_in: str  # the property that is broken: values, gradients, cost …
    call: str = ""
    inputs: dict[str, Any] = field(default_factory=dict)
    part: str = ""
    faulty: Any = None
    right: Any = None
    wrong: Any = None  # which entries of `faulty` differ
    words: tuple[str, ...] = ()  # how the two differ
    notes: tuple[str, ...] = ()  # what else a reader must know
    map: tuple[str, ...] = ()  # which input moves which output, a row of signs per output
    bars: tuple[tuple[str, float], ...] = ()  # of a whole model: its parts, and how far each is from the right one
    curves: tuple[tuple[float, ...], ...] = ()  # losses in training: of the faulty model, and of the right one

    def as_json(self) -> dict[str, Any]:
        """The symptom as a JSON object."""
        return {**asdict(self), "words": list(self.words), "notes": list(self.notes), "map": list(self.map)}

    @property
    def shows_a_difference(self) -> bool:
        """Whether a reader can tell the faulty code's result from a right one: in a sentence, a value or a map."""
        drawn = any(sign in "▲○" for row in self.map for sign in row)
        return drawn or str(self.faulty) != str(self.right) or any(self.words)


@dataclass(frozen=True)
class Examination:
    """A hunt's code after all questions of the exercise."""

    findings: tuple[Finding, ...]
    subject: LocalSubject

    @property
    def broken(self) -> list[str]:
        """The names of the checks that fail."""
        return [finding.check.name for finding in self.findings if finding.failed]

    @property
    def difficulty(self) -> int:
        """1 to 3: the fewer of the graded checks fail, the harder the fault is to see."""
        graded = [one for one in self.findings if one.check.graded and not one.check.not_run]
        share = len(self.broken) / max(len(graded), 1)
        return 1 if share >= 2 / 3 else 2 if share >= 1 / 3 else 3


def question_sets(exercise: Exercise, seed: Any, properties: Sequence[str] = ()) -> list[QuestionSet]:
    """The exercise's questions with the reference's answers; `properties`: those of these checks alone."""
    checks: list[Check] = registry.check_function(exercise)()
    wanted = [check for check in checks if not properties or check.property in properties]
    return list(questions(wanted, reference_of(exercise), f"{seed}/{exercise.id}"))


def examine(exercise: Exercise, code: str, asked: Sequence[QuestionSet]) -> Examination:
    """The answers to these questions of code in the form of the exercise's contract. Raises TimeLimitExceeded for code
    that does not end."""
    subject = LocalSubject.from_source(with_adapter(exercise, code))
    with time_limit(SECONDS):
        return Examination(tuple(collect_answers(asked, subject)), subject)


def symptom(hunt: Hunt, seed: Any) -> Symptom | None:
    """What is seen of the hunt's faults with inputs of this seed; None if nothing is. Raises TimeLimitExceeded."""
    checks = registry.check_function(hunt.exercise)()
    cheap = [check.property for check in checks if check.property not in COSTLY]
    for properties in (cheap, COSTLY):
        asked = question_sets(hunt.exercise, seed, properties) if properties else []
        if seen := failures_of(hunt.exercise, examine(hunt.exercise, hunt.code, asked)):
            return describe(hunt.exercise, seen)
    return None


@dataclass(frozen=True)
class Failures:
    """The failures that the symptom shows: the clearest one, and who depends on whom if that is wrong."""

    main: Finding
    flow: Finding | None = None


def failures_of(exercise: Exercise, examined: Examination) -> Failures | None:
    """The clearest failures in these findings, with inputs as small as they go; None if nothing failed.

    Raises TimeLimitExceeded for code that does not end.
    """
    failed = [finding for finding in examined.findings if finding.failed]
    told = [finding for finding in failed if finding.check.property not in COSTLY] or failed
    if not told:
        return None
    with time_limit(SECONDS):  # code that ends with the inputs that were drawn may not end with smaller ones
        right = [subject_of(one) for one in answers(exercise, "right")]
        smaller = shrink_counterexample(told, examined.subject, reference_of(exercise), right)
    plain = [one for one in smaller if not one.map]
    main = simplest(_clear(plain) or plain or smaller)
    assert main is not None
    return Failures(_drawable(main), next((one for one in smaller if one.map), None))


def describe(exercise: Exercise, seen: Failures) -> Symptom:
    """The symptom in words and values."""
    found = _of_finding(exercise, seen.main)
    if found.call and seen.main.simplest is not None and seen.main.simplest.probe.case.state:
        found = replace(found, notes=(*found.notes, say(PARAMETERS)))
    if seen.flow is None or seen.flow.simplest is None:
        return found
    return replace(found, map=seen.flow.map, words=(*found.words, *_flow_words(seen.flow.simplest)))


def _clear(findings: Sequence[Finding]) -> list[Finding]:
    """Those whose simplest answer is a wrong result: it tells more than an exception."""
    return [one for one in findings if one.simplest is not None and not is_crash(one.simplest)]


def _drawable(finding: Finding) -> Finding:
    """The finding with the largest small mask as its answer, if it is about masks: a single entry shows little."""
    masks = [answer for answer in finding.mismatches if _is_mask(answer.expected) and isinstance(answer.actual, Tensor)]
    largest = max(masks, key=lambda answer: answer.expected.numel(), default=None)
    return finding if largest is None else replace(finding, shrunk=largest)


def _is_mask(value: Any) -> bool:
    return isinstance(value, Tensor) and value.dtype == torch.bool and value.dim() > 1 and value.numel() <= WINDOW**2


def _of_finding(exercise: Exercise, finding: Finding) -> Symptom:
    answer = finding.simplest
    assert answer is not None
    given = counterexample(exercise, [finding]) or {}
    inputs = given.get("inputs", {})
    about = Symptom(
        finding.check.property, given.get("call", ""), {name: inputs[name] for name in given.get("order", ())}
    )
    if isinstance(answer.actual, RaisedError):
        return replace(about, words=(say(RAISES, error=answer.actual.message[:LONGEST]),))
    if isinstance(answer.expected, RaisedError):
        return replace(about, words=(say(RAISES_NOT),))
    part, right, faulty = _first_difference(answer.expected, answer.actual, answer)
    if finding.map:
        return replace(about, words=())
    return replace(about, part=part, **_beside(right, faulty, answer))


def _first_difference(right: Any, faulty: Any, answer: Answer, part: str = "") -> tuple[str, Any, Any]:
    """The first part of two results in which they differ, and its place, such as `[1]` or `gradient of weight`."""
    for name, one, other in _parts(right, faulty):
        if compare(one, other, answer.probe.tolerance) is not None:
            return _first_difference(one, other, answer, part + name)
    return part, right, faulty


def _parts(right: Any, faulty: Any) -> Iterator[tuple[str, Any, Any]]:
    if isinstance(right, Mapping) and isinstance(faulty, Mapping) and right.keys() == faulty.keys():
        yield from ((f" {key}", right[key], faulty[key]) for key in right)
    elif isinstance(right, list | tuple) and isinstance(faulty, list | tuple) and len(right) == len(faulty):
        yield from ((f"[{index}]", one, other) for index, (one, other) in enumerate(zip(right, faulty, strict=True)))


def _beside(right: Any, faulty: Any, answer: Answer) -> dict[str, Any]:
    """The fields of a symptom that show the two results."""
    if isinstance(right, Tensor) and isinstance(faulty, Tensor):
        return _tensors(right.detach(), faulty.detach(), answer)
    if isinstance(right, list | tuple) and isinstance(faulty, list | tuple) and len(right) != len(faulty):
        words = say(OTHER_LENGTH, faulty=len(faulty), right=len(right))
    elif _kind(right) != _kind(faulty):
        words = say(OTHER_TYPE, faulty=_kind(faulty), right=_kind(right))
    elif isinstance(right, bool | int | float | str):
        words = say(OTHER_NUMBER, faulty=faulty, right=right)
    else:
        return {"notes": (say(OTHER),), "faulty": _shown(faulty), "right": _shown(right)}
    return {"words": (words,), "faulty": _shown(faulty), "right": _shown(right)}


def _tensors(right: Tensor, faulty: Tensor, answer: Answer) -> dict[str, Any]:
    if right.shape != faulty.shape:
        words = [say(OTHER_SHAPE, faulty=size(faulty.shape), right=size(right.shape))]
        return {"words": tuple(words), "faulty": shown_value(faulty), "right": shown_value(right)}
    words = []
    if right.dtype != faulty.dtype:
        words.append(say(OTHER_TYPE, faulty=_kind(faulty), right=_kind(right)))
    wrong = wrong_entries(right, loosen_form(right, faulty), answer.probe.tolerance)
    if wrong is None or not wrong.any():
        return {"words": tuple(words), "faulty": shown_value(faulty), "right": shown_value(right)}
    first = wrong.nonzero()[0].tolist()
    if wrong.numel() > 1:
        words.append(say(OTHER_VALUES, wrong=int(wrong.sum()), count=wrong.numel(), place=place(first)))
    shown = _windows(right, faulty, wrong, first)
    if str(shown["faulty"]) == str(shown["right"]):  # a difference below the digits that are shown
        by = f"{float((right.double() - faulty.double())[wrong].abs().max()):.2g}"
        words.append(say(SMALL, by=by))
    return {**shown, "words": tuple(words)}


def _windows(right: Tensor, faulty: Tensor, wrong: Tensor, first: Sequence[int]) -> dict[str, Any]:
    """Both results and which entries differ; of large ones a window around the first entry that does."""
    whole = wrong.shape
    start, part = _window(whole, first)
    for axis, (at, length) in enumerate(zip(start, part, strict=True)):
        right, faulty, wrong = (one.narrow(axis, at, length) for one in (right, faulty, wrong))
    notes = () if list(part) == list(whole) else (say(SECTION, part=size(part), whole=size(whole), place=place(start)),)
    return {"notes": notes, "faulty": shown_value(faulty), "right": shown_value(right), "wrong": wrong.tolist()}


def _window(shape: Sequence[int], first: Sequence[int]) -> tuple[list[int], list[int]]:
    """Start and size on each axis: everything if that can be shown, or a part of the matrix with this entry."""
    if math.prod(shape) <= WINDOW * WINDOW:
        return [0] * len(shape), list(shape)
    most = [1] * (len(shape) - 2) + [WINDOW] * min(len(shape), 2)
    part = [min(one, limit) for one, limit in zip(shape, most, strict=True)]
    start = [max(0, min(at - length // 2, one - length)) for at, length, one in zip(first, part, shape, strict=True)]
    return start, part


def _flow_words(answer: Answer) -> Iterator[str]:
    """The first dependence that right code does not have, and the first that is missing. The two are maps bool
    [inputs, texts, outputs]."""
    right, faulty = answer.expected, answer.actual
    for sentence, wrong in ((LEAKS, faulty & ~right), (DEAF, right & ~faulty)):
        if wrong.any():
            moved, text, output = wrong.nonzero()[0].tolist()
            of, position = divmod(moved, max(wrong.shape[0] // wrong.shape[1], 1))
            yield say(sentence if of == text else OTHER_TEXT, input=position, output=output)


def _kind(value: Any) -> str:
    if isinstance(value, Tensor):
        return say(TENSOR, dtype=str(value.dtype).removeprefix("torch."))
    return type(value).__name__


def _shown(value: Any) -> Any:
    return None if isinstance(value, WrongDevice) else shown_value(value)
