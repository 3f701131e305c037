"""Finds a mutation of a right answer that gives the student's answers, and reports its kind without showing code."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import torch
from torch import Tensor

from autograder.api import Exercise
from autograder.checks.compare import compare_values
from autograder.checks.local import LocalSubject
from autograder.checks.probe import observe
from autograder.diagnosis.limit import TimeLimitExceeded, time_limit
from autograder.diagnosis.programs import Program, Values, programs
from autograder.diagnosis.transformations import INSIDE
from autograder.feedback.translate import say

if TYPE_CHECKING:
    from autograder.checks.probe import Answer as Reply
    from autograder.diagnosis.evidence import Replies

SECONDS = 2.0  # processor time for all mutations of one exercise
MUTATION_S = 1.0  # processor time for one mutation
MAX_ENDLESS = 2  # mutants that never end, after which a search is over
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
    replies = [*sorted(core, key=_size), *sorted(passed, key=_size)]
    if len(replies) < MIN_ANSWERS:
        return None

    def fits(known: Sequence[Reply]) -> Callable[[Candidate], bool]:
        """A test whether a candidate gives all of these answers."""
        return lambda one: gives(subject_in(one.namespace, exercise), known, _has_values)

    end = time.thread_time() + SECONDS
    candidates = takewhile(lambda _: time.thread_time() < end, _candidates(exercise, replies))
    while (found := first_matching(candidates, fits(replies), MUTATION_S)) is not None:
        every = None if more is None else more()
        if more is not None and every is None:
            return None
        fresh = [] if every is None else [*every.wrong, *every.right]
        if first_matching(iter([found]), fits(fresh), MUTATION_S) is not None:
            return say(found.sentence, mutation=say(found.mutation))
    return None


def first_matching(mutants: Iterator[T], holds: Callable[[T], bool], seconds: float) -> T | None:
    """The first mutant for which this holds within so many seconds of the processor; those after it are not touched.

    For one that never ends it does not hold, and the search is over after MAX_ENDLESS of them.
    """
    endless = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of mutants that compile with one
        for mutant in mutants:
            try:
                with time_limit(seconds):
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
    """The exercise's symbols as a namespace defines them; None if it lacks one."""
    if not all(symbol in namespace for symbol in exercise.symbols):
        return None
    return LocalSubject({symbol: namespace[symbol] for symbol in exercise.symbols})


def _has_values(actual: Any, reply: Reply) -> bool:
    """Whether these are the student's values, whatever their form."""
    return compare_values(actual, reply.actual, reply.probe.tolerance) is None


def _size(reply: Reply) -> int:
    return reply.probe.case.size()


def _candidates(exercise: Exercise, replies: Sequence[Reply]) -> Iterator[Candidate]:
    """All mutations, the likely ones first."""
    answers = [one for one in programs(exercise) if _is_quick(one, exercise, replies[0])]
    for sentence, search in (
        (ONE_PLACE, Program.single),
        (ONE_PLACE, Program.renamings),
        (SEVERAL_PLACES, Program.at_like_places),
    ):
        for program in answers:
            for operator, namespace in search(program):
                yield Candidate(sentence, OPERATOR_SENTENCES[operator], namespace)
    for program in answers:
        yield from _values(program, replies)


def _is_quick(program: Program, exercise: Exercise, reply: Reply) -> bool:
    """Whether this right answer runs fast enough that hundreds of its mutations can be tried."""
    start = time.thread_time()
    try:
        reply.probe.ask(subject_in(program.namespace(), exercise))
    except Exception:  # this way to write it does not answer such questions
        return False
    return time.thread_time() - start < SECONDS / 50


def _values(program: Program, replies: Sequence[Reply]) -> Iterator[Candidate]:
    """Each value that the program computes on its way, after each transformation."""
    values = Values(program)
    try:
        replies[0].probe.ask(LocalSubject(values.made))
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
