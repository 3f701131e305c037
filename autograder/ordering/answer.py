"""An order of a puzzle's lines as it is written, `3 1 2:1`, and as the answer that a student hands in.

Where `ordered` in course.toml allows it, the cell of an answer may hold `order("masks.causal").hand_in("3 1 2:1")` in
the place of code. The grader makes the puzzle again, for the id of whoever hands in, and grades the program that this
order of its lines gives, for a share of the points. The cell is read, never run. Loads no torch.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

from autograder.api import CheckResult, Exercise, Verdict
from autograder.exercises.answers import BadCorpus
from autograder.exercises.contracts import MARK
from autograder.exercises.parse import parse_source
from autograder.feedback.translate import say
from autograder.ordering.make import NoPuzzle, PlacedLine, Puzzle, make

DEEPEST = 8  # steps of indentation
LONGEST = 2000  # characters of a cell that may be such an answer
WRITTEN = "written as code"
SHARE = "Its lines were put in order, and not written: that earns at most {share} % of the points."


class BadOrder(ValueError):
    """What was handed in is no order of the puzzle's lines; the message says why."""


@dataclass(frozen=True)
class HandedInOrder:
    """An order in the place of code: of which exercise, maybe with a contract, for whom and with which seed its lines
    are shuffled, and as it is written."""

    exercise: str
    order: str
    seed: int = 0
    student: str | None = None


def read_order(puzzle: Puzzle, text: str) -> tuple[PlacedLine, ...]:
    """The order that is written as `3 1 2:1`: numbers of lines, each with its steps of indentation. Raises BadOrder."""
    found: list[PlacedLine] = []
    for word in text.replace(",", " ").split()[: len(puzzle.lines) + 1]:
        number, _, level = word.partition(":")
        if not (number.isdecimal() and (level.isdecimal() or word == number)):
            raise BadOrder(f"{word!r} is no line: write its number, and its indentation in steps after a colon, as 3:1")
        found.append(PlacedLine(int(number[:9]), int(level[:9] or 0)))
    if not found:
        raise BadOrder("no line is named: write the numbers of lines in their order, such as 3 1 2:1")
    numbers = [one.number for one in found]
    for one in found:
        if not 1 <= one.number <= len(puzzle.lines):
            raise BadOrder(f"there is no line {one.number}: the lines have the numbers 1 to {len(puzzle.lines)}")
        if numbers.count(one.number) > 1:
            raise BadOrder(f"line {one.number} is named twice: each line can be used once")
        if one.level > DEEPEST:
            raise BadOrder(f"line {one.number} is indented by {one.level} steps: at most {DEEPEST} are possible")
    return tuple(found)


def read_answer(text: str) -> HandedInOrder | None:
    """The order that is all of a cell, but for imports of the grader's functions; None if the cell is anything else."""
    if "hand_in" not in text or len(text) > LONGEST:
        return None
    try:
        statements = [one for one in parse_source(text).body if not _imports_grader(one)]
    except SyntaxError:
        return None
    match statements:
        case [
            ast.Expr(
                ast.Call(
                    ast.Attribute(ast.Call(ast.Name("order"), [ast.Constant(str(exercise))], keywords), "hand_in"),
                    [ast.Constant(str(order))],
                    [],
                )
            )
        ]:
            return _with_shuffle(HandedInOrder(exercise, order), keywords)
    return None


def _imports_grader(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.ImportFrom) and statement.module == "autograder"


def _with_shuffle(found: HandedInOrder, keywords: Sequence[ast.keyword]) -> HandedInOrder | None:
    """The order with what the call's keywords say of the shuffle."""
    for one in keywords:
        match one:
            case ast.keyword("seed", ast.Constant(int(seed))):
                found = replace(found, seed=int(seed))
            case ast.keyword("student", ast.Constant(str(student))):
                found = replace(found, student=student)
            case _:
                return None
    return found


def program_of(text: str, exercise: Exercise, student: str | None = None) -> str | None:
    """The program of the order that a cell hands in for the exercise, whose lines are shuffled for this student, by
    default the current user; None for a cell that does not, or whose order is none of these lines."""
    handed_in = read_answer(text)
    if handed_in is None or handed_in.exercise.partition(MARK)[0] != exercise.id:
        return None
    try:
        puzzle = make(exercise, student, handed_in.seed)
        return puzzle.program(read_order(puzzle, handed_in.order))
    except (BadOrder, NoPuzzle, BadCorpus):
        return None


def with_programs(
    sources: Sequence[Any], exercises: Sequence[Exercise], student: str
) -> tuple[list[Any], frozenset[str]]:
    """The cells of a submission with the programs of orders in their place, and the exercises that have one."""
    asked, made, ordered = {one.id: one for one in exercises}, list[Any](), set[str]()
    for source in sources:
        exercise = asked.get(source.exercise)
        program = program_of(source.text, exercise, student) if exercise else None
        made.append(source if program is None else replace(source, text=program))
        ordered |= {source.exercise} if program is not None else set()
    return made, frozenset(ordered)


def at_share(verdict: Verdict, ordered: Collection[str], share: float) -> Verdict:
    """The verdict with this share of its points, and the rest as those of a check that says so, if its exercise's lines
    were ordered."""
    if verdict.exercise not in ordered or verdict.status == "not_graded":
        return verdict
    checks = tuple(replace(one, points=share * one.points, of=share * one.of) for one in verdict.checks)
    told = say(SHARE, share=f"{100 * share:g}")
    written = CheckResult(name=WRITTEN, status="failed", message=told, of=(1 - share) * verdict.max_score)
    return replace(verdict, score=share * verdict.score, checks=(*checks, written))
