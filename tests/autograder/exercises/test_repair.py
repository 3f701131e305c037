"""Undoing a known edit in code by another hand."""

import ast
import sys

import pytest

from autograder.exercises.repair import repairs

RIGHT = '''
def attend(q, k, v, mask):
    """The reference's text."""
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    scores = scores.masked_fill(~mask, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    return weights @ v
'''
UNSCALED = RIGHT.replace(" / math.sqrt(q.shape[-1])", "")
WRONG_AXIS = RIGHT.replace("dim=-1", "dim=-2")
NO_MASK = RIGHT.replace('    scores = scores.masked_fill(~mask, float("-inf"))\n', "")


def alike(source, other):
    return ast.dump(ast.parse(source)) == ast.dump(ast.parse(other))


@pytest.mark.parametrize("wrong", [UNSCALED, WRONG_AXIS, NO_MASK])
def test_the_edited_answer_itself_becomes_right_again(wrong):
    bare = RIGHT.replace('    """The reference\'s text."""\n', "")
    assert any(alike(text, bare) for text in repairs(wrong, RIGHT, wrong))


def test_names_and_everything_else_may_be_the_students_own():
    student = """
def attend(q, k, v, mask):
    size = q.shape[-1]
    s = torch.einsum("bqd,bkd->bqk", q, k) / size ** 0.5
    hidden = s.masked_fill(~mask, float("-inf"))
    p = torch.softmax(hidden, dim=-2)  # rows
    return torch.einsum("bqk,bkd->bqd", p, v)
"""
    (text,) = repairs(student, RIGHT, WRONG_AXIS)
    assert alike(text, student.replace("dim=-2", "dim=-1"))


def test_a_missing_line_is_put_where_its_neighbours_stand_with_the_students_names():
    student = """
def attend(q, k, v, mask):
    s = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    p = torch.softmax(s, dim=-1)
    return p @ v
"""
    texts = list(repairs(student, RIGHT, NO_MASK))
    assert any("s = s.masked_fill(~mask, float('-inf'))" in text for text in texts)


def test_code_that_does_not_hold_the_mistake_is_left_alone():
    assert list(repairs(RIGHT, RIGHT, WRONG_AXIS)) == []
    assert list(repairs("def attend(q, k, v, mask):\n    return q @ v\n", RIGHT, UNSCALED)) == []


def test_a_number_alone_is_no_place():
    right, wrong = "def f(x):\n    y = x + 1\n    return y\n", "def f(x):\n    y = x + 2\n    return y\n"
    assert list(repairs("def f(x):\n    return x[2]\n", right, wrong)) == []


def test_a_right_side_that_needs_a_name_the_student_has_not_is_not_used():
    right = "def f(x):\n    n = len(x)\n    return g(x) / n\n"
    wrong = "def f(x):\n    n = len(x)\n    return g(x)\n"
    assert list(repairs("def f(y):\n    return g(y)\n", right, wrong)) == []


def test_code_that_does_not_parse_has_no_repair():
    assert list(repairs("def f(:\n", RIGHT, UNSCALED)) == []


def calls_of(function):
    """How many calls and resumed generators it takes to run this function: a cost that no other process changes."""
    counted = []
    sys.setprofile(lambda frame, event, argument: counted.append(1) if event == "call" else None)
    try:
        function()
    finally:
        sys.setprofile(None)
    return len(counted)


def test_a_tree_twice_as_deep_costs_no_more_than_twice_as_much():
    """The walk began at the root for every place: 5 kB of a sum took two seconds for each edit."""
    sums = [f"def f(a):\n    return {'+'.join(['a'] * count)}\n" for count in (200, 400)]
    once, twice = (calls_of(lambda source=source: list(repairs(source, RIGHT, UNSCALED))) for source in sums)
    assert once < twice < 2.2 * once
