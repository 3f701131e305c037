"""Makes questions from a student's own answer: the same ones for the same code and seed."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any

from autograder.localize.trace import Trace
from autograder.questions import dependence, expressions, variants
from autograder.questions.inputs import ExampleCall, call_of, cases, usable
from autograder.questions.question import CodeQuestion
from autograder.questions.runs import CallBudget, CodeRunner, OutOfBudget, StudentCode
from autograder.sandbox.base import Backend
from autograder.sandbox.client import StudentError

COUNT = 3  # questions after an exercise
ENOUGH = 1.6  # times as many, among which they are chosen
OF_TOPIC = 3  # questions of one topic that are made, to choose from
TURNS = (("line", "rows"), ("variant",), ("value", "truths", "shape", "times", "products"))  # one of each in turn


def questions(
    code: StudentCode, backend: Backend, seed: int | str = 0, count: int = COUNT, budget: CallBudget | None = None
) -> list[CodeQuestion]:
    """Up to `count` questions about the code, of as many kinds as there are; none for code that is not right.

    budget: by default that of one answer. Raises OutOfTime if its wall time is used up: what was found until then would
    be other questions than elsewhere.
    """
    rng = random.Random(f"{seed}/{code.exercise.id}/{hashlib.sha256(code.text.encode('utf-8', 'replace')).hexdigest()}")
    found: dict[str, CodeQuestion] = {}
    with CodeRunner(code, backend, budget) as run, suppress(OutOfBudget):  # what was found until then is right
        for call in _calls(run, str(seed)):
            for one in _about(run, call, rng):
                found.setdefault(one.id, one)
            if len(found) >= ENOUGH * count:
                break
        run.budget.left()  # what a box that was stopped did not answer is no result of the code
    return _chosen(list(found.values()), count, rng)


def _calls(run: CodeRunner, seed: str) -> Iterator[ExampleCall]:
    """The calls that the code answers as it should."""
    exercise = run.code.exercise
    for case in cases(exercise, seed):
        good = usable(exercise, case, run, run.code.text)
        if good is not None:
            yield call_of(exercise, good)


def _about(run: CodeRunner, call: ExampleCall, rng: random.Random) -> Iterator[CodeQuestion]:
    """The questions about one call."""
    watched = run.notes(run.code.text, call.case, "_q_watch")
    lines = set(watched[1]) if watched else set()
    among = variants.variants(run.code.text, lines, rng)
    neutral = variants.steps(run.code.text, lines, rng)
    try:
        yield from islice(dependence.lines(run, call, neutral, rng), 1)
        yield from islice(dependence.questions(run, call, rng), 2)
        yield from islice(variants.questions(run, call, among, rng), OF_TOPIC)
        traced = run.trace(run.code.text, call.case)
        if traced is None:
            return
        yield from _of_expressions(run, call, traced[0], rng)
        yield from islice(expressions.times(traced[0], run, call), 1)
        yield from islice(expressions.products(traced[0], run, call), 1)
    except StudentError:  # the box broke off: what was found until then is right
        return


def _of_expressions(run: CodeRunner, call: ExampleCall, trace: Trace, rng: random.Random) -> Iterator[CodeQuestion]:
    counts: dict[str, int] = {}
    for one in expressions.questions(trace, run, call, rng):
        counts[one.topic] = counts.get(one.topic, 0) + 1
        if counts[one.topic] <= OF_TOPIC:
            yield one
        if counts.get("shape", 0) >= OF_TOPIC and counts.get("value", 0) + counts.get("truths", 0) >= OF_TOPIC:
            return


def _chosen(found: Sequence[CodeQuestion], count: int, rng: random.Random) -> list[CodeQuestion]:
    """One of each turn after the other, each time of the topic that was taken least."""
    left, chosen = list(found), list[CodeQuestion]()
    while len(chosen) < count and left:
        for topics in TURNS:
            some = [one for one in left if one.topic in topics]
            if some and len(chosen) < count:
                chosen.append(min(some, key=lambda one: _taken(one, chosen, rng)))
                left.remove(chosen[-1])
    return chosen


def _taken(one: CodeQuestion, chosen: Sequence[CodeQuestion], rng: random.Random) -> Any:
    """How often its topic and its line were taken; then lines and values come first, as it happens."""
    same = sum(other.topic == one.topic for other in chosen)
    return same, sum(other.line == one.line for other in chosen), one.topic != "line", rng.random()
