"""Finds a mutation of a right answer that gives the student's answers, and reports its kind without showing code."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import torch
from torch import Tensor

from autograder.api import Exercise
from autograder.checks.compare import values_agree
from autograder.checks.local import LocalSubject
from autograder.checks.probe import observe
from autograder.checks.reference import reference_of
from autograder.diagnosis.budget import ComputeBudget
from autograder.diagnosis.evidence import size_of
from autograder.diagnosis.limit import TimeLimitExceeded, repeated_time_limit
from autograder.diagnosis.loops import COUNTER, TurnCountingSubject
from autograder.diagnosis.programs import Program, Values, programs
from autograder.diagnosis.transformations import INSIDE
from autograder.feedback.translate import say

if TYPE_CHECKING:
    from autograder.checks.probe import Answer as Reply
    from autograder.diagnosis.evidence import Replies

MAX_UNITS = 60_000  # of all mutations of one exercise
MAX_VALUE_UNITS = 300_000  # of all changes of intermediate values, which come last and have this for themselves
MUTATION_S = 2.0  # processor time for one mutation, which only code that hardly ends reaches
MAX_ENDLESS = 2  # mutants that never end, after which a search is over
MEASURED = 2  # answers whose cost is counted, to know what a call costs
MIN_ANSWERS = 2  # answers that a mutation must give, since much gives one answer by chance

T = TypeVar("T")

OPERATOR_SENTENCES = {
    "drop_term": "a term of a sum or a factor of a product is left out",
    "change_operator": "one operator is replaced by another, such as - by + or / by *",
    "change_comparison": "one comparison is replaced by another, such as <= by <",
    "drop_sign": "a sign or a negation is missing",
    "change_constant": "one constant, such as a factor or an axis, has the wrong value",
    "change_function": "one function is replaced by a similar one, such as mean by sum or min by max",
    "drop_call": "one step is left out",
    "drop_argument": "one argument is not passed on",
    "swap": "two arguments or operands are swapped",
    "change_slice": "one index or slice is off by one",
    "drop_statement": "one line is missing",
    "shorten_loop": "one loop has one iteration too few",
    "change_activation": "one activation function is replaced by another, such as SiLU by ReLU",
    "change_reduction": "one function is replaced by a similar one, such as mean by sum or min by max",
    "move_step": "one step is applied too early or too late",
    "change_bound": "the start or end of a slice or range is off by one",
    "exchange_lines": "two lines are in the wrong order, or one is on the wrong side of a loop",
    "repeat_line": "one line is executed twice",
    "reverse_loop": "one loop runs in reverse order",
    "skip_rest": "the last block is left out if it is not full",
    "average_rows": "each row is averaged first, and then the rows, so that a short row counts as much as a long one",
    "renamed": "one variable is used instead of another",
}


class Candidate(NamedTuple):
    """A mutant of a right answer, with the sentence that says so and the mutation that it names."""

    sentence: str
    mutation: str
    namespace: dict[str, Any]


ONE_PLACE = "Your code behaves like a right answer in which {mutation}."
SEVERAL_PLACES = "Your code behaves like a right answer in which, in more than one place, {mutation}."
INTERMEDIATE_VALUE = "Your code behaves like a right answer in which an intermediate value is the right one {mutation}."


def explain_by_mutation(
    core: Sequence[Reply], exercise: Exercise, passed: Sequence[Reply] = (),
    more: Callable[[], Replies | None] | None = None,
) -> str | None:  # fmt: skip
    """The kind of the first mutation that gives every one of these answers, and those that are right as well.

    `more` gives the answers to fresh questions too, which it must give as well; None if there are not enough of them.
    """
    replies = [*sorted(core, key=size_of), *sorted(passed, key=size_of)]
    if len(replies) < MIN_ANSWERS:
        return None

    budget = ComputeBudget(reference_of(exercise), replies[:MEASURED], MAX_UNITS)
    fits = lambda one, known: gives(counting_subject(one.namespace, exercise, budget), known, has_values)
    able = [one for one in programs(exercise) if can_answer(one, exercise, replies[0], budget)]
    for candidates, units in (
        (_mutants(able, budget), MAX_UNITS),
        (_changed_values(able, replies, budget), MAX_VALUE_UNITS),
    ):
        budget.refill(units)
        tried = takewhile(lambda _: budget.may_go_on, candidates)
        if (found := next(confirm_mutants(tried, fits, replies, more, MUTATION_S), None)) is not None:
            return say(found.sentence, mutation=say(found.mutation))
    return None


def confirm_mutants(
    mutants: Iterator[T], fits: Callable[[T, Sequence[Reply]], bool], replies: Sequence[Reply],
    more: Callable[[], Replies | None] | None, seconds: float,
) -> Iterator[T]:  # fmt: skip
    """The mutants that fit these answers, and then those to fresh questions, which `more` asks for; it may be None.

    Nothing is asked before a mutant fits. It ends where there are not enough fresh answers. `seconds`: processor time
    of each test of a mutant.
    """
    first = lambda some, known: first_matching(some, lambda one: fits(one, known), seconds)
    while (found := first(mutants, replies)) is not None:
        every = None if more is None else more()
        if more is not None and every is None:
            return
        fresh = [] if every is None else [*every.wrong, *every.right]
        if first(iter([found]), fresh) is not None:
            yield found


def first_matching(mutants: Iterator[T], holds: Callable[[T], bool], seconds: float) -> T | None:
    """The first mutant for which this holds within so many seconds of the processor; those after it are not touched.

    For one that never ends it does not hold, and the search is over after MAX_ENDLESS of them.
    """
    endless = 0
    with warnings.catch_warnings(), repeated_time_limit(seconds) as limited:
        warnings.simplefilter("ignore")  # of mutants that compile with one
        for mutant in mutants:
            try:
                with limited():
                    if holds(mutant):
                        return mutant
            except TimeLimitExceeded:
                endless += 1
                if endless == MAX_ENDLESS:
                    return None
    return None


def gives(subject: LocalSubject | None, replies: Sequence[Reply], same: Callable[[Any, Reply], bool]) -> bool:
    """Whether the subject's answer to each of these questions is the `same` as the student's."""
    try:
        return subject is not None and all(same(observe(subject, one.probe), one) for one in replies)
    except Exception:  # NotRun, or a mutant's answer that no check expected: it is not the student's
        return False


def subject_in(namespace: Mapping[str, Any], exercise: Exercise) -> LocalSubject | None:
    """The exercise's symbols as a program's namespace defines them; None if it lacks one."""
    if not all(symbol in namespace for symbol in exercise.symbols):
        return None
    return TurnCountingSubject({name: namespace[name] for name in (*exercise.symbols, COUNTER)})


def counting_subject(namespace: Mapping[str, Any], exercise: Exercise, budget: ComputeBudget) -> LocalSubject | None:
    """As `subject_in`, with each call counted."""
    subject = subject_in(namespace, exercise)
    return subject and budget.count_calls(subject)


def has_values(actual: Any, reply: Reply) -> bool:
    """Whether these are the student's values, whatever their form."""
    return values_agree(actual, reply.actual, reply.probe.tolerance)


def _mutants(answers: Sequence[Program], budget: ComputeBudget) -> Iterator[Candidate]:
    """All mutations of the code, the likely ones first."""
    for sentence, search in (
        (ONE_PLACE, Program.single),
        (ONE_PLACE, Program.renamings),
        (SEVERAL_PLACES, Program.at_like_places),
    ):
        for program in answers:
            for operator, namespace in search(program):
                budget.spend_mutant()
                yield Candidate(sentence, OPERATOR_SENTENCES[operator], namespace)


def _changed_values(answers: Sequence[Program], replies: Sequence[Reply], budget: ComputeBudget) -> Iterator[Candidate]:
    """All transformations of the values that these programs compute on their way."""
    for program in answers:
        yield from _values(program, replies, budget)


def can_answer(program: Program, exercise: Exercise, reply: Reply, budget: ComputeBudget) -> bool:
    """Whether this way to write it answers such questions at all."""
    try:
        subject = counting_subject(program.namespace(), exercise, budget)
        reply.probe.ask(subject)
    except Exception:  # a program that asks for other parameters, say
        return False
    return subject is not None


def _values(program: Program, replies: Sequence[Reply], budget: ComputeBudget) -> Iterator[Candidate]:
    """Each value that the program computes on its way, after each transformation."""
    values = Values(program)
    budget.spend_mutant()
    try:
        replies[0].probe.ask(budget.count_calls(TurnCountingSubject(values.made)))
    except Exception:  # this way to write it does not answer such questions
        return
    places = values.places()
    for name, edit in INSIDE:
        for number in places:
            if any(_changes(edit, one) for one in values.seen[number]):
                values.active, values.edit = number, edit
                yield Candidate(INTERMEDIATE_VALUE, name, values.made)


def _changes(edit: Callable[[Any], Any], value: Any) -> bool:
    """Whether this makes another value of this one."""
    try:
        made = edit(value)
        if isinstance(value, Tensor):
            return made.shape != value.shape or not torch.equal(made, value)
        return bool(made != value)
    except Exception:
        return False
