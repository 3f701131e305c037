"""Finds a slip in the reference that gives the student's answers, and reports its kind without showing code."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from autograder.api import Exercise
from autograder.checks.mutation import GradientCut, mutants_of
from autograder.checks.operators import Mutant
from autograder.diagnosis.limit import TimeLimitExceeded, time_limit
from autograder.translate import say

if TYPE_CHECKING:
    from autograder.checks.probe import Answer as Reply

SECONDS = 1.0  # processor time for all slips of one reference
EACH = 5.0  # wall time for one slip

SAID = {
    "drop_term": "a term of a sum or a factor of a product is left out",
    "change_operator": "one operator stands for another, as + for - or * for /",
    "change_comparison": "one comparison stands for another, as < for <=",
    "drop_sign": "a sign or a negation is missing",
    "change_constant": "one constant is another number or another axis",
    "change_function": "one function stands for its like, as sum for mean or max for min",
    "drop_call": "one step is left out",
    "drop_argument": "one argument is not passed on",
    "swap": "two things are exchanged",
    "change_slice": "one index or slice is off by a place",
    "drop_statement": "one line is missing",
    "shorten_loop": "one loop ends a step too early",
    "cut_gradient": "the gradient is cut at one place",
}


def of_slip(core: Sequence[Reply], exercise: Exercise) -> str | None:
    """The kind of the first slip that gives every one of these answers."""
    end = time.thread_time() + SECONDS
    ordered = sorted(core, key=lambda reply: reply.probe.case.size())
    for mutant in mutants_of(exercise):
        if time.thread_time() > end:
            return None
        if _gives(mutant, exercise, ordered):
            return say("Your answer is what a right one would give in which {slip}.", slip=say(SAID[mutant.operator]))
    return None


def _gives(mutant: Mutant, exercise: Exercise, replies: Sequence[Reply]) -> bool:
    from autograder.checks.compare import compare_values
    from autograder.checks.local import LocalSubject
    from autograder.checks.probe import observe

    namespace = {"__name__": "slip", "cut": GradientCut()}
    try:
        with time_limit(EACH):
            exec(compile(mutant.source, "slip.py", "exec"), namespace)
            subject = LocalSubject({symbol: namespace[symbol] for symbol in exercise.symbols})
            return all(compare_values(observe(subject, one.probe), one.actual, one.probe.tolerance) is None
                       for one in replies)  # fmt: skip
    except (Exception, TimeLimitExceeded):  # a slip that fails or never ends did not produce these answers
        return False
