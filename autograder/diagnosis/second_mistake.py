"""Names a collected mistake in an answer that has another one besides, which need not be collected.

The student's answers are compared with those of each collected mistake, as `kinds` compares them with right ones: a
transformation of its results, or one change of its code outside the lines of the mistake, must give them all, and
those to fresh questions. If a second collected mistake is that transformation or that change, it is named as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import islice, takewhile
from typing import Any

from autograder.checks.compare import compare, compare_values, values_agree
from autograder.checks.local import LocalSubject
from autograder.checks.probe import Answer as Reply
from autograder.checks.probe import is_crash, observe
from autograder.diagnosis.budget import ComputeBudget
from autograder.diagnosis.closeness import closeness
from autograder.diagnosis.compose import agrees, answer_of_known, merged_pairs, subject_of
from autograder.diagnosis.diagnose import Misconception, with_second
from autograder.diagnosis.evidence import FEWEST_WRONG, Evidence, Replies, Rule, name_of, size_of
from autograder.diagnosis.mutations import (
    MEASURED,
    ONE_PLACE,
    OPERATOR_SENTENCES,
    can_answer,
    confirm_mutants,
    counting_subject,
    gives,
    has_values,
    subject_in,
)
from autograder.diagnosis.programs import Program
from autograder.exercises.answers import Answer, EditedAnswer
from autograder.feedback.translate import say

MAX_UNITS = 60_000  # of the whole search
FIRST_ASKED = 4  # answers that are looked at before the others
MAX_MUTANTS, MAX_CLASS_MUTANTS = 400, 200  # changed programs that are tried, fewer of a class, whose objects are built
MAX_CALL_UNITS = 1_000  # of a call of a program of which hundreds of changes are tried
MUTANT_S = 2.0  # processor time of one changed program, which only code that hardly ends reaches
UNTOLD = ("exchange_lines",)  # operators whose sentence names nothing that a student could look for
REMAINS = "With that mended, what remains is this. {explanation}"
# what turns the mistake's result into the student's need not turn the right one into what they have once it is mended
BEYOND = (
    "Your code makes a second mistake. In what follows, “right” means what the first mistake alone gives. "
    "{explanation} Mend the first mistake and check again: then you see what is left of the second."
)


class SecondMistakeSearch:
    """The search for a collected mistake beside another, within one budget."""

    def __init__(self, evidence: Evidence) -> None:
        self.evidence = evidence
        self.wrong = sorted(evidence.at_hand.wrong, key=size_of)
        self.first = self.wrong[:FIRST_ASKED]
        self.budget = ComputeBudget(evidence.at_hand.reference, self.first[:MEASURED], MAX_UNITS)

    @cached_property
    def mistakes(self) -> list[Answer]:
        """The collected mistakes, first those that give most of what is wrong in the student's answers."""
        known = self.evidence.known
        close = {one.stem: closeness(partial(self.answer_of, one), self.first) for one in known}
        return sorted(known, key=lambda one: -close[one.stem])

    def answer_of(self, mistake: Answer, reply: Reply) -> Any:
        """The mistake's answer, which is counted; None where it can't be asked."""
        self.budget.spend_call_of(mistake, reply.probe)
        return answer_of_known(mistake, reply)

    def find(self, rules: Sequence[Rule]) -> Misconception | None:
        """A collected mistake, and another one or what one of the rules says of the answers without it."""
        found = mistakes_by_part(self) or merged_mistakes(self)
        return found or mistake_and_transformation(self, rules) or mistake_and_mutation(self)


def merged_mistakes(search: SecondMistakeSearch) -> Misconception | None:
    """Two collected mistakes that change the same lines, or lines of answers in different styles."""
    evidence = search.evidence
    if all(map(is_crash, search.wrong)):
        return None
    for pair in merged_pairs(search.mistakes, lambda parts: _may_merge(search.budget, parts)):
        search.budget.spend_calls()
        if agrees(pair, search.wrong) and agrees(pair, evidence.at_hand.right):
            every = evidence.all()
            if every is None:
                return None
            if agrees(pair, [*every.wrong, *every.right]):
                return with_second(evidence.exercise, *pair.parts)
    return None


def _may_merge(budget: ComputeBudget, parts: Sequence[EditedAnswer]) -> bool:
    """Whether these may be put together; what it costs is spent, and half of all is left to what is tried next."""
    budget.spend_code(*(one.read_text() for one in parts))
    return budget.may_go_on and budget.left > budget.units / 2


def mistake_and_transformation(search: SecondMistakeSearch, rules: Sequence[Rule]) -> Misconception | None:
    """The collected mistake whose answers one of these rules turns into the student's."""
    for mistake in search.mistakes:
        for rule in rules:
            if not search.budget.may_go_on:
                return None
            if told := _told(rule, mistake, search):
                others = [one for one in search.mistakes if one.stem != mistake.stem]
                second = next((one for one in others if _tells_the_same_of(rule, told, one, search.evidence)), None)
                return with_second(search.evidence.exercise, mistake, second or say(BEYOND, explanation=told))
    return None


def mistake_and_mutation(search: SecondMistakeSearch) -> Misconception | None:
    """The collected mistake in whose code one change elsewhere gives the student's answers."""
    evidence, budget = search.evidence, search.budget
    if all(map(is_crash, search.wrong)) or len(search.wrong) < 2 or budget.units_of_call > MAX_CALL_UNITS:
        return None
    replies = [*search.wrong, *sorted(evidence.at_hand.right, key=size_of)]
    most = MAX_MUTANTS if replies[0].probe.case.init is None else MAX_CLASS_MUTANTS
    tried = takewhile(lambda _: budget.may_go_on, islice(_mutated_mistakes(search), most))
    fits = lambda one, known: gives(counting_subject(one.namespace, evidence.exercise, budget), known, has_values)
    for found in confirm_mutants(tried, fits, replies, evidence.all, MUTANT_S):
        second = _collected_alike(found, evidence, replies)
        if second is not None or found.operator not in UNTOLD:
            told = say(ONE_PLACE, mutation=say(OPERATOR_SENTENCES[found.operator]))
            return with_second(evidence.exercise, found.mistake, second or say(REMAINS, explanation=told))
    return None


def mistakes_by_part(search: SecondMistakeSearch) -> Misconception | None:
    """The collected mistakes of which each gives another part of the student's answers: one of several results, or
    the answers of one of several functions."""
    evidence = search.evidence
    parts = _wrong_parts(evidence.at_hand.wrong)
    if len(parts) < 2:
        return None
    found: dict[Any, Answer] = {}
    for part in parts:
        fitting = (one for one in search.mistakes if _gives_part(search, one, part, evidence.at_hand))
        mistake = next(fitting, None)
        if mistake is None:
            return None
        found[part] = mistake
    every = evidence.all()
    if every is None or not all(_gives_part(search, one, part, every) for part, one in found.items()):
        return None
    different = list(dict.fromkeys(found.values()))
    return with_second(evidence.exercise, *different) if len(different) == 2 else None


Place = tuple[str, int]  # a function, class or method, and which of its results


def _wrong_parts(replies: Sequence[Reply]) -> list[Place]:
    """Where these answers differ; none where their structures do."""
    found: dict[Place, None] = {}
    for reply in replies:
        for index, pair in enumerate(_results(reply.expected, reply.actual)):
            if not values_agree(*pair, reply.probe.tolerance):
                found[name_of(reply), index] = None
    return list(found)


def _results(expected: Any, actual: Any) -> list[tuple[Any, Any]]:
    """The results of an answer, each with what stands in its place in another."""
    if isinstance(expected, tuple) and isinstance(actual, tuple) and len(expected) == len(actual):
        return list(zip(expected, actual, strict=True))
    return [(expected, actual)]


def _gives_part(search: SecondMistakeSearch, mistake: Answer, part: Place, replies: Replies) -> bool:
    """Whether a mistake gives this part of all the student's answers, wrong and right ones."""
    own = [one for one in (*replies.wrong, *replies.right) if name_of(one) == part[0]]
    return bool(own) and all(_same_part(search.answer_of(mistake, reply), reply, part[1]) for reply in own)


def _same_part(made: Any, reply: Reply, index: int) -> bool:
    pairs = _results(made, reply.actual)
    if is_crash(reply) or made is None or index >= len(pairs):
        return False
    return values_agree(*pairs[index], reply.probe.tolerance)


def _told(rule: Rule, mistake: Answer, search: SecondMistakeSearch) -> str | None:
    """What the rule says of the student's answers beside those of the mistake, as far as nothing refutes it."""
    evidence = search.evidence
    for replies in (Replies(search.first, [], evidence.at_hand.reference), evidence.at_hand):
        if (seen := _compared_with(replies, mistake, search)) is None or not seen.wrong or rule(seen) is None:
            return None
    every = evidence.all()
    seen = None if every is None else _compared_with(every, mistake, search)
    return None if seen is None or len(seen.wrong) < FEWEST_WRONG else rule(seen)


def _compared_with(replies: Replies, mistake: Answer, search: SecondMistakeSearch) -> Replies | None:
    """The same answers, with the mistake's in place of right ones; None if it has none to compare with, or if it
    spoils what the student has right: what turns it back then would be no second mistake."""
    wrong, right = list[Any](), list[Any]()
    for reply in (*replies.wrong, *replies.right):
        made = search.answer_of(mistake, reply)
        if made is None or is_crash(replace(reply, actual=made)) or _spoils(made, reply):
            return None
        difference = compare(made, reply.actual, reply.probe.tolerance)
        (right if difference is None else wrong).append(replace(reply, expected=made, difference=difference))
    return Replies(wrong, right, search.budget.count_calls(subject_of(mistake)))


def _spoils(made: Any, reply: Reply) -> bool:
    """Whether this has one of several results wrong that the student has right."""
    pairs = zip(_results(reply.expected, reply.actual), _results(reply.expected, made), strict=False)
    differences = [[compare_values(*pair, reply.probe.tolerance) for pair in both] for both in pairs]
    return any(theirs is None and its is not None for theirs, its in differences)


def _tells_the_same_of(rule: Rule, told: str, other: Answer, evidence: Evidence) -> bool:
    """Whether the rule says the same of the answers of this mistake alone."""
    wrong, right = list[Any](), list[Any]()
    every = evidence.all()
    for reply in () if every is None else (*every.wrong, *every.right):
        made = answer_of_known(other, reply)
        if made is None:
            return False
        difference = compare(reply.expected, made, reply.probe.tolerance)
        (right if difference is None else wrong).append(replace(reply, actual=made, difference=difference))
    return len(wrong) >= FEWEST_WRONG and rule(Replies(wrong, right, evidence.at_hand.reference)) == told


@dataclass(frozen=True)
class MutatedMistake:
    """A collected mistake with one change in its code."""

    mistake: EditedAnswer
    operator: str
    change: str  # the operator's change of the code, as text
    namespace: dict[str, Any]


def _mutated_mistakes(search: SecondMistakeSearch) -> Iterator[MutatedMistake]:
    """Each edit of a right answer with one change in the lines that it leaves as they are, the likely ones first."""
    edits = [one for one in search.mistakes if isinstance(one, EditedAnswer)]
    own = tuple(search.evidence.exercise.symbols)
    for mistake in edits:
        program = Program(mistake.read_text(), own, edited_lines(mistake))
        if can_answer(program, search.evidence.exercise, search.first[0], search.budget):
            for changes in (Program.single, Program.renamings):
                for operator, namespace in changes(program):
                    search.budget.spend_mutant()
                    yield MutatedMistake(mistake, operator, program.change_text, namespace)


def edited_lines(mistake: EditedAnswer) -> frozenset[int]:
    """The numbers of the lines, from 1, that the mistake has in place of right ones."""
    text, base = mistake.read_text().splitlines(), mistake.base.read_text(encoding="utf-8").splitlines()
    grown = sum(len(one.lines) - (one.end - one.start) for one in mistake.replacements)
    shift = len(text) - len(base) - grown
    found: set[int] = set()
    for one in sorted(mistake.replacements):
        first = one.start + shift + 1
        found.update(range(first, first + len(one.lines)))
        shift += len(one.lines) - (one.end - one.start)
    return frozenset(found)


def _collected_alike(found: MutatedMistake, evidence: Evidence, replies: Sequence[Reply]) -> Answer | None:
    """The collected mistake that gives the same answers as the right answer with this change alone."""
    program = Program(found.mistake.base.read_text(encoding="utf-8"), tuple(evidence.exercise.symbols))
    for search in (Program.single, Program.renamings):
        for operator, namespace in search(program):
            if operator == found.operator and program.change_text == found.change:
                alone = subject_in(namespace, evidence.exercise)
                others = (one for one in evidence.known if one.stem != found.mistake.stem)
                return next((one for one in others if alone and _alike(alone, one, replies)), None)
    return None


def _alike(one: LocalSubject, other: Answer, replies: Sequence[Reply]) -> bool:
    """Whether a program and a collected mistake give the same wrong answers."""
    wrong = 0
    for reply in replies:
        first, second = observe(one, reply.probe), answer_of_known(other, reply)
        if not values_agree(first, second, reply.probe.tolerance):
            return False
        wrong += not values_agree(reply.expected, first, reply.probe.tolerance)
    return wrong >= FEWEST_WRONG
