"""Proves puzzles by running orders: right ones pass, whichever way they are shuffled, and those with a mistake fail.

Of right orders in which two lines are exchanged, so that they fail, no line is blamed that need not change. And puzzles
of many students are answered by a right order, in the numbers that their own shuffle gives its lines.

The code is our own, so it runs in this process, with the exercise's checks.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from autograder.api import Exercise
from autograder.checks.local import LocalSubject
from autograder.checks.probe import QuestionSet, collect_answers, questions
from autograder.checks.reference import reference_of
from autograder.diagnosis.limit import TimeLimitExceeded, time_limit
from autograder.exercises import registry
from autograder.exercises.parse import is_python
from autograder.ordering.answer import read_order
from autograder.ordering.flow import orders
from autograder.ordering.lines import split
from autograder.ordering.make import SEEDS, NoPuzzle, PlacedLine, Puzzle, make
from autograder.ordering.out_of_place import completions, first_wrong

SECONDS = 30.0  # processor time of one program
STUDENTS = 8  # whose puzzles are made, so that most distractors are drawn for one of them
EXCHANGES = 4  # wrong orders of each exercise, of which the named line is proved
SECONDS_OF_WRONG = 5.0  # processor time of one program on the way to that line


@dataclass(frozen=True)
class OrderingProof:
    """What was run for one exercise. `reason`: why it has no lines to put in order."""

    exercise: str
    lines: int = 0
    orders: int = 0  # equivalent ones beside the answer's own
    mistakes: int = 0
    exchanges: int = 0  # wrong orders whose first line out of place was sought
    shuffles: int = 0  # puzzles that were answered by a right order
    complaints: tuple[str, ...] = ()
    reason: str = ""


def prove_exercise(name: str, most: int, seed: int = 0, shuffles: int = STUDENTS) -> OrderingProof:
    """The proof of one exercise, with at most so many equivalent orders and with so many shuffles of its lines."""
    exercise = registry.find(name)
    try:
        puzzles = [make(exercise, f"{student}") for student in range(STUDENTS)]
    except NoPuzzle as error:
        return OrderingProof(name, reason=str(error))
    checks = registry.check_function(exercise)()
    asked = list(questions(checks, reference_of(exercise), f"{seed}/{name}"))
    first, shuffled = puzzles[0], equivalent(puzzles[0], most)
    right = {order: passes(first.program(order), asked) for order in (first.right, *shuffled)}
    complaints = [f"{name}: the right order {write_order(order)} of {first.exercise.id} is refused"
                  for order, passed in right.items() if not passed]  # fmt: skip
    mistakes = {line.mistake: puzzle.program(puzzle.with_mistake(number))
                for puzzle in puzzles for number, line in enumerate(puzzle.lines, 1) if line.mistake}  # fmt: skip
    complaints += [f"{name}: the line of {mistake} passes" for mistake, program in sorted(mistakes.items())
                   if passes(program, asked)]  # fmt: skip
    accepted = [order for order, passed in right.items() if passed]
    wrong = list(itertools.islice(_exchanged(first, accepted, asked, f"{seed}/{name}"), EXCHANGES))
    complaints += [f"{name}: {why}" for order, at in wrong if (why := _blames(first, order, at, accepted, asked))]
    refused = _refused(exercise, first, accepted, f"{seed}/{name}", shuffles) if accepted else []
    complaints += [f"{name}: {why}" for why in refused]
    answered = shuffles if accepted else 0
    return OrderingProof(name, len(first.right), len(shuffled), len(mistakes), len(wrong), answered, tuple(complaints))


def _refused(
    exercise: Exercise, first: Puzzle, right: Sequence[Sequence[PlacedLine]], seed: str, shuffles: int
) -> Iterator[str]:
    """Which shuffles a right order does not solve, when it is handed in as a student would write it.

    right: orders of the first puzzle that pass. What is read must be the program of one of them.
    """
    drawn, programs = random.Random(f"shuffles/{seed}"), {first.program(order) for order in right}
    for student in range(shuffles):
        puzzle = make(exercise, f"student {student}", drawn.choice(SEEDS))
        numbers = {puzzle.line(one.number).place: one.number for one in puzzle.right}
        order = drawn.choice(right)
        text = write_order([replace(one, number=numbers[first.line(one.number).place]) for one in order])
        if puzzle.program(read_order(puzzle, text)) not in programs:
            yield f"the right order {text} of student {student}'s lines (seed {puzzle.seed}) is refused"


def _exchanged(
    puzzle: Puzzle, right: Sequence[Sequence[PlacedLine]], asked: Sequence[QuestionSet], seed: str
) -> Iterator[tuple[tuple[PlacedLine, ...], int]]:
    """Right orders with two lines exchanged that fail and can be read, and the place of the first, from 0 on."""
    drawn = random.Random(seed)
    pairs = list(itertools.combinations(range(len(puzzle.right)), 2))
    for one, other in drawn.sample(pairs, len(pairs) if right else 0):
        order = [*drawn.choice(right)]
        order[one], order[other] = order[other], order[one]
        program = puzzle.program(order)
        if is_python(program) and not passes(program, asked, SECONDS_OF_WRONG):
            yield tuple(order), one


def _blames(
    puzzle: Puzzle,
    order: tuple[PlacedLine, ...],
    at: int,
    right: Sequence[Sequence[PlacedLine]],
    asked: Sequence[QuestionSet],
) -> str:
    """What is wrong with the line that is named in this order, whose lines before `at` are right; "" if nothing.

    right: orders that pass, of which none may begin with the lines up to the one that is named.
    """

    def passes_soon(program: str) -> bool:
        return passes(program, asked, SECONDS_OF_WRONG)

    line, _ = first_wrong(puzzle, order, passes_soon)
    if line is None:
        return ""
    if line <= at:
        return f"of the order {write_order(order)} line {line} is named, and the first {at} are right"
    begin = order[: line - 1]
    if begin and not any(passes_soon(puzzle.program(one)) for one in completions(puzzle, begin)):
        return f"of the order {write_order(order)} line {line} is named, and what is above it cannot be completed"
    if other := next((one for one in right if _same(puzzle, one[:line], order[:line])), None):
        return f"of the order {write_order(order)} line {line} is named, and {write_order(other)} begins the same way"
    return ""


def _same(puzzle: Puzzle, one: Sequence[PlacedLine], other: Sequence[PlacedLine]) -> bool:
    """Whether two beginnings read the same: lines of one text stand for each other, whatever their numbers."""
    read = [[(puzzle.line(placed.number).text, placed.level) for placed in each] for each in (one, other)]
    return read[0] == read[1]


def equivalent(puzzle: Puzzle, most: int) -> list[tuple[PlacedLine, ...]]:
    """Orders that are as right as the answer's own, as data flow says; at most so many."""
    lines = split(puzzle.program(puzzle.right))
    begin = puzzle.rows(puzzle.right)[0] - 1
    start = next(n for n, line in enumerate(lines) if line.start == begin)
    found = orders(lines, start, start + len(puzzle.right), most)
    return [tuple(puzzle.right[n - start] for n in order) for order in found]


def write_order(order: Sequence[PlacedLine]) -> str:
    """The order as it is handed in: `3 1 2:1`."""
    return " ".join(f"{one.number}:{one.level}" if one.level else str(one.number) for one in order)


def passes(program: str, asked: Sequence[QuestionSet], seconds: float = SECONDS) -> bool:
    """Whether the program passes; one that does not end, or cannot be read, does not."""
    try:
        with time_limit(seconds):
            found = collect_answers(asked, LocalSubject.from_source(program), lambda finding: bool(finding.failed))
    except (TimeLimitExceeded, SyntaxError):
        return False
    return not any(finding.failed for finding in found)


def summary(proofs: Sequence[OrderingProof]) -> str:
    """One line on all proofs."""
    made = [one for one in proofs if not one.reason]
    shuffled, mistakes = sum(one.orders for one in made), sum(one.mistakes for one in made)
    exchanges, shuffles = sum(one.exchanges for one in made), sum(one.shuffles for one in made)
    wrong = sum(len(one.complaints) for one in made)
    return (
        f"{len(made)} of {len(proofs)} exercises have lines to put in order; {len(made)} right orders and {shuffled} "
        f"equivalent ones were run, {mistakes} with the line of a mistake, and {exchanges} with two lines exchanged; "
        f"{shuffles} shuffles were answered by a right order: {wrong} of all these were misjudged"
    )
