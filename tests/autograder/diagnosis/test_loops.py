"""Loops of changed programs count their turns, so that one that never ends is given up on every machine alike."""

from __future__ import annotations

import ast

import pytest

from autograder.diagnosis.budget import ComputeBudget
from autograder.diagnosis.loops import MAX_TURNS, CountedProgram, TurnCountingSubject, counted_loops
from autograder.diagnosis.programs import Program, Values
from autograder.sandbox.client import StudentError

HALVE = """
def halve(n, by=2):
    steps = 0
    while n > 1:
        while n % 2:
            n -= 1
        n //= by
        steps += 1
    else:
        steps = -steps
    return steps
"""
GROW = """
def grow(words, most):
    for word in words:
        if len(words) < most:
            words.append(word)
    return len(words)
"""


def test_a_loop_that_ends_is_the_same_however_often_it_is_asked():
    program = CountedProgram(HALVE + GROW, "loops.py")
    for _ in range(3):
        assert [program.call("halve", n) for n in (1, 2, 7, 1024)] == [0, -1, -2, -10]
        assert program.call("grow", ["a"], MAX_TURNS) == MAX_TURNS


@pytest.mark.parametrize("call", [("halve", 2, 1), ("grow", ["a"], MAX_TURNS + 1)], ids=["while", "for"])
def test_a_loop_that_never_ends_is_given_up(call):
    with pytest.raises(StudentError, match=str(MAX_TURNS)):
        CountedProgram(HALVE + GROW, "loops.py").call(*call)


ELSEWHERE = {
    "case": "match n:\n        case 1:\n            while True:\n                pass",
    "list": "return [one for one in repeat(n) if one > n]",
    "generator": "return sum(0 for _ in repeat(n))",
    "second for": "return {one for _ in range(2) for one in repeat(n)}",
    "lambda": "return (lambda: {one: 0 for one in repeat(n)})()",
}


@pytest.mark.parametrize("body", ELSEWHERE.values(), ids=ELSEWHERE)
def test_a_loop_counts_its_turns_wherever_it_stands(body):
    with pytest.raises(StudentError, match=str(MAX_TURNS)):
        CountedProgram(f"from itertools import repeat\ndef f(n):\n    {body}\n", "loops.py").call("f", 1)


def test_a_comprehension_over_what_has_a_length_may_be_long():
    program = CountedProgram("def pairs(n):\n    return len([0 for _ in range(n) for _ in range(n)])\n", "loops.py")
    assert program.call("pairs", 200) == 200 * 200 > MAX_TURNS


@pytest.mark.parametrize("made", [lambda one: one.namespace(), lambda one: Values(one).made], ids=["mutant", "values"])
def test_each_call_of_a_changed_program_has_all_turns(made):
    program = Program("def count(n):\n    return sum(1 for _ in iter(range(n)))\n", ("count",))
    subject = TurnCountingSubject(made(program))
    for asked in (subject, ComputeBudget(subject, []).count_calls(subject)):
        assert [asked.call("count", MAX_TURNS) for _ in range(3)] == [MAX_TURNS] * 3


def test_a_tree_is_left_as_it_was():
    tree = ast.parse(HALVE + GROW + "def f(n):\n    return [one for one in range(n)]\n")
    before = ast.dump(tree)
    with counted_loops(tree.body):
        assert ast.dump(tree) != before
    assert ast.dump(tree) == before


def test_a_mutant_that_never_ends_is_given_up():
    outcomes = set()
    for _, namespace in Program(HALVE, ("halve",)).single():
        try:
            outcomes.add(namespace["halve"](9))
        except Exception as error:
            outcomes.add(type(error).__name__)
    assert {"EndlessLoop", -3} <= outcomes
