"""What a general sentence must be true of before a student reads it: the answers at hand, and those to fresh questions.

A sentence that fits a handful of answers may fit them by chance. So each is tried again on answers to questions with
other inputs, which are asked only when there is something to say, and is kept to itself if one of them refutes it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from autograder.api import Exercise
from autograder.checks.local import LocalSubject
from autograder.checks.probe import FATAL, Check, Finding, Probe, QuestionSet, collect_answers, questions
from autograder.checks.properties.parameters import PARAMETERS
from autograder.checks.reference import reference_of
from autograder.diagnosis.budget import ComputeBudget
from autograder.exercises.registry import check_function
from autograder.sandbox.work_time import WorkTime

if TYPE_CHECKING:
    from autograder.checks.probe import Answer as Reply
    from autograder.exercises.answers import Answer as CollectedAnswer

FRESH = 20  # answers to fresh questions
FEWEST, FEWEST_WRONG = 6, 3  # without so many of them nothing general is said
DRAWS = 12  # of a check's questions; a mistake may show in few of them
MAX_UNITS = 50_000  # of asking; a check is not interrupted
CALLS_OF_QUESTION = 8  # of the reference: its answer, that of the student, and how far roundings move it
WAIT_S = 10.0  # processor time for asking, which only code that is slow on purpose needs
KEPT = 48  # sets of fresh questions, which are the same for all answers to an exercise


@dataclass(frozen=True)
class Replies:
    """Answers that a sentence must be true of."""

    wrong: Sequence[Reply]
    right: Sequence[Reply]
    reference: LocalSubject

    def of(self, symbol: str) -> Replies:
        """Those of one function, class or method."""
        wrong, right = ([one for one in some if name_of(one) == symbol] for some in (self.wrong, self.right))
        return Replies(wrong, right, self.reference)


Rule = Callable[[Replies], str | None]


@dataclass
class Evidence:
    """The answers at hand, and a way to get others."""

    exercise: Exercise
    at_hand: Replies
    subject: Any  # the student's code; None if it can't be asked any more
    known: Sequence[CollectedAnswer] = ()  # the collected mistakes that may be named
    _fresh: dict[str, list[Finding]] = field(default_factory=dict)

    def fresh(self, property: str = "values") -> list[Finding]:
        """The findings of the checks of one property at fresh questions; of ordinary values those that decide."""
        if property not in self._fresh:
            wanted = (lambda check: check.core) if property == "values" else (lambda check: True)
            self._fresh[property] = ask_again(self.exercise, self.subject, self.at_hand.reference, property, wanted)
        return self._fresh[property]

    def all(self) -> Replies | None:
        """The answers at hand and the fresh ones; None if there are too few of these, or too few wrong ones."""
        symbols = {name_of(reply) for reply in self.at_hand.wrong}
        replies = [reply for finding in self.fresh() for reply in finding.answers if name_of(reply) in symbols]
        wrong = [reply for reply in replies if reply.difference is not None]
        if len(replies) < FEWEST or len(wrong) < FEWEST_WRONG:
            return None
        right = [reply for reply in replies if reply.difference is None]
        return Replies([*self.at_hand.wrong, *wrong], [*self.at_hand.right, *right], self.at_hand.reference)

    def spoken(self, rule: Rule, symbol: str = "") -> str | None:
        """The rule's sentence if nothing refutes it; it is derived anew from all answers, so that it may say less."""
        if rule(self.at_hand.of(symbol) if symbol else self.at_hand) is None:
            return None
        every = self.all()
        return None if every is None else rule(every.of(symbol) if symbol else every)


def name_of(reply: Reply) -> str:
    """The function, class or method that is asked for."""
    return reply.probe.case.method or reply.probe.case.symbol


def size_of(reply: Reply) -> int:
    """How many numbers the question's inputs have."""
    return reply.probe.case.size()


def is_value(reply: Reply) -> bool:
    """Whether the reply is an answer itself, and not its gradients."""
    return not isinstance(reply.expected, dict) or "gradient of input" not in reply.expected


def ask_again(
    exercise: Exercise, subject: Any, reference: LocalSubject, property: str, wanted: Callable[[Check], bool]
) -> list[Finding]:
    """The findings of these checks at other seeds, as many as the budget allows."""
    checks = [
        check
        for check in check_function(exercise)()
        if check.property == property and check.graded and check.name != PARAMETERS and wanted(check)
    ]
    found: list[Finding] = []
    if subject is None or not getattr(subject, "alive", True):
        return found
    time_left, budget = WorkTime(WAIT_S, subject), None
    for finding in _draws(exercise, checks, subject, reference):
        found.append(finding)
        answers = [reply for one in found for reply in one.answers]
        budget = budget or ComputeBudget(reference, answers[:1], MAX_UNITS)
        budget.spend_calls(CALLS_OF_QUESTION * len(finding.answers))
        wrong = sum(reply.difference is not None for reply in answers)
        if len(answers) >= FRESH and wrong >= FEWEST_WRONG:
            break
        if not budget.may_go_on or time_left.is_over or _lost(finding):
            break
    return found


def _draws(exercise: Exercise, checks: Sequence[Check], subject: Any, reference: LocalSubject) -> Iterator[Finding]:
    for draw in range(DRAWS):
        for check in checks:
            if reference is reference_of(exercise):
                asked = _questions(exercise, check.name, draw)
            else:  # on another device
                (asked,) = questions([check], reference, _seed(exercise, draw))
            yield collect_answers([asked], subject)[0]


def fresh_questions(exercise: Exercise, check: str) -> Iterator[tuple[Probe, Any]]:
    """The fresh questions of the check of this name, each with what is expected."""
    for draw in range(DRAWS):
        yield from _questions(exercise, check, draw)[1]


@lru_cache(maxsize=KEPT)
def _questions(exercise: Exercise, name: str, draw: int) -> QuestionSet:
    """The fresh questions of one check with the reference's answers, which are kept for other answers."""
    check = next(one for one in check_function(exercise)() if one.name == name)
    (asked,) = questions([check], reference_of(exercise), _seed(exercise, draw))
    return asked


def _seed(exercise: Exercise, draw: int) -> str:
    return f"again {draw}/{exercise.id}"


def _lost(finding: Finding) -> bool:
    """Whether the box has ended."""
    return any(getattr(reply.actual, "kind", None) in FATAL for reply in finding.answers)
