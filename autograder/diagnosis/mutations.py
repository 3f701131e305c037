"""Finds a mutation of a right answer that gives the student's answers, and reports its kind without showing code."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from autograder.api import Exercise
from autograder.checks.local import LocalSubject
from autograder.diagnosis.limit import TimeLimitExceeded, time_limit
from autograder.diagnosis.programs import Program, Values, programs
from autograder.diagnosis.transformations import INSIDE
from autograder.feedback.translate import say

if TYPE_CHECKING:
    from autograder.checks.probe import Answer as Reply
    from autograder.diagnosis.evidence import Replies

SECONDS = 2.0  # processor time for all mutations of one exercise
MUTATION_S = 1.0  # processor time for one mutation
MIN_ANSWERS = 2  # answers that a mutation must give, since much gives one answer by chance

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


Candidate = tuple[str, str, dict[str, Any]]  # a sentence, the mutation that it names, and the namespace of the mutant

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
    end = time.thread_time() + SECONDS
    candidates = _candidates(exercise, replies)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of mutations that compile with one
        while (found := _next(candidates, exercise, replies, end)) is not None:
            sentence, mutation, namespace = found
            every = None if more is None else more()
            if more is not None and every is None:
                return None
            if every is None or _within_time(namespace, exercise, [*every.wrong, *every.right]):
                return say(sentence, mutation=say(mutation))
    return None


class _Renew(Exception):
    """Half of the time limit of one mutation has passed."""


def _next(
    candidates: Iterator[Candidate], exercise: Exercise, replies: Sequence[Reply], end: float
) -> Candidate | None:
    """The next mutation that gives these answers; None once there is none, or no time."""
    while time.thread_time() < end:
        try:
            with time_limit(MUTATION_S):
                return _first(candidates, exercise, replies, end)
        except (TimeLimitExceeded, _Renew):  # one that never ends, or the next ones get all of the time again
            continue
    return None


def _within_time(namespace: dict[str, Any], exercise: Exercise, replies: Sequence[Reply]) -> bool:
    try:
        with time_limit(MUTATION_S):
            return _gives(namespace, exercise, replies)
    except TimeLimitExceeded:
        return False


def _first(
    candidates: Iterator[Candidate], exercise: Exercise, replies: Sequence[Reply], end: float
) -> Candidate | None:
    start = time.thread_time()
    for candidate in candidates:
        if _gives(candidate[2], exercise, replies):
            return candidate
        if time.thread_time() > end:
            return None
        if time.thread_time() - start > MUTATION_S / 2:
            raise _Renew
    return None


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
            yield from ((sentence, OPERATOR_SENTENCES[operator], namespace) for operator, namespace in search(program))
    for program in answers:
        yield from _values(program, replies)


def _is_quick(program: Program, exercise: Exercise, reply: Reply) -> bool:
    """Whether this right answer runs fast enough that hundreds of its mutations can be tried."""
    start = time.thread_time()
    try:
        namespace = program.namespace()
        reply.probe.ask(LocalSubject({symbol: namespace[symbol] for symbol in exercise.symbols}))
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
                yield INTERMEDIATE_VALUE, name, values.made


def _changes(edit: Callable[[Any], Any], value: Any) -> bool:
    """Whether this makes another value of this one."""
    try:
        made = edit(value)
        if isinstance(value, Tensor):
            return made.shape != value.shape or not torch.equal(made, value)
        return bool(made != value)
    except Exception:
        return False


def _gives(namespace: dict[str, Any], exercise: Exercise, replies: Sequence[Reply]) -> bool:
    from autograder.checks.compare import compare_values
    from autograder.checks.probe import observe

    try:
        subject = LocalSubject({symbol: namespace[symbol] for symbol in exercise.symbols})
        return all(compare_values(observe(subject, one.probe), one.actual, one.probe.tolerance) is None
                   for one in replies)  # fmt: skip
    except Exception:  # a mutation that fails did not produce these answers
        return False
