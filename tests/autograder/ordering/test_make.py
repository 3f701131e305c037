"""Puzzles: a right answer's lines among lines of known mistakes, and an order's program."""

import ast

import pytest

from autograder.exercises import registry
from autograder.exercises.answers import answers
from autograder.ordering.lines import CannotSplit, split, statements, suites
from autograder.ordering.make import (
    FEWEST,
    MAX_DISTRACTORS,
    MOST,
    NoPuzzle,
    PlacedLine,
    commonest,
    make,
)

PROGRAM = """import math


@keep
def f(x,
      y):
    if x:  # a comment
        return (x +
                y)
    else:
        z = 1
    return z


def g(): return 1
"""


def test_lines_are_whole_statements_and_headers_with_their_levels():
    found = [(line.level, line.text) for line in split(PROGRAM)]
    assert found == [
        (0, "import math"), (0, "@keep"), (0, "def f(x,\n      y):"), (1, "if x:  # a comment"),
        (2, "return (x +\n        y)"), (1, "else:"), (2, "z = 1"), (1, "return z"), (0, "def g(): return 1"),
    ]  # fmt: skip


def test_runs_of_lines_and_their_statements():
    lines = split(PROGRAM)
    assert list(suites(lines)) == [(1, 9), (3, 8), (4, 5), (6, 7)]
    assert statements(lines, 1, 9) == [(1, 8), (8, 9)] and statements(lines, 3, 8) == [(3, 7), (7, 8)]


def test_a_string_over_several_rows_is_not_split():
    with pytest.raises(CannotSplit, match="rows 1 to 2"):
        split('x = """a\nb"""\n')


def test_every_exercise_has_a_puzzle_or_a_short_answer():
    made, short = 0, []
    for exercise in registry.exercises():
        try:
            puzzle = make(exercise, "ada")
        except NoPuzzle as why:
            short.append(str(why))
            continue
        made += 1
        assert ast.dump(ast.parse(puzzle.program(puzzle.right))) == ast.dump(ast.parse(commonest(exercise).read_text()))
        mistakes = [line for line in puzzle.lines if line.mistake]
        assert FEWEST <= len(puzzle.right) <= MOST and 1 <= len(mistakes) <= MAX_DISTRACTORS
        assert len(puzzle.lines) == len(puzzle.right) + len(mistakes) and all(line.level >= 0 for line in puzzle.lines)
        assert not {line.text for line in mistakes} & {line.text for line in puzzle.lines if not line.mistake}
        assert all(line.sentence for line in mistakes)
    assert made > 70 and all("has only 1 line" in why or "has only 2 lines" in why for why in short)


def test_a_short_answer_is_told_plainly():
    with pytest.raises(NoPuzzle, match="^rnn.cell has no lines to put in order: its answer has only 1 line$"):
        make(registry.find("rnn.cell"))


def test_shuffles_are_the_students_own_and_stay():
    exercise = registry.find("attention.scaled_dot_product")
    one, again, other, next_seed = (make(exercise, *who) for who in (("ada",), ("ada",), ("ben",), ("ada", 1)))
    assert one == again and one.lines != other.lines and one.lines != next_seed.lines


def test_the_line_of_a_mistake_stands_where_its_answer_has_it():
    exercise = registry.find("attention.scaled_dot_product")
    wrong = {one.stem: one.read_text().partition("import math")[2] for one in answers(exercise, "wrong")}
    for student in range(6):
        puzzle = make(exercise, str(student))
        for number, line in enumerate(puzzle.lines, 1):
            if line.mistake in wrong:
                program = puzzle.program(puzzle.with_mistake(number)).partition("import math")[2]
                assert ast.dump(ast.parse(program)) == ast.dump(ast.parse(wrong[line.mistake]))


def test_indentation_and_rows_are_those_of_the_order():
    puzzles = (make(registry.find("objectives.distillation"), str(n)) for n in range(20))
    puzzle = next(one for one in puzzles if any("\n" in line.text for line in one.lines[1:]))
    long = next(n for n, line in enumerate(puzzle.lines, 1) if n > 1 and "\n" in line.text)
    order = (PlacedLine(long, 1), PlacedLine(1, 0))
    text = puzzle.program(order)
    first, second = puzzle.rows(order)
    assert text.splitlines()[first - 1] == " " * 8 + puzzle.line(long).text.split("\n")[0]
    assert text.splitlines()[second - 1] == " " * 4 + puzzle.line(1).text
