"""Which names a student's cell defines."""

from __future__ import annotations

import ast
import warnings
from itertools import islice

import pytest

from autograder.exercises.parse import bindings, defined_names, parse_source, symbol_tables, without_magics

CELL = """
import os.path
from math import pi as circle
if True:
    def f(argument):
        local = argument
    class A:
        inside = 1
elif (half := 0.5):
    x, (y, *z) = 1, (2, 3)
pairs = [(row, square := row * row) for row in (lambda hidden: [hidden])(3)]
declared: int
match pairs:
    case [first, *rest]: pass
    case {"key": value, **others}: pass
"""


def test_names_in_every_branch_are_found_and_those_of_inner_scopes_are_not():
    variables = {"half", "x", "y", "z", "pairs", "square", "first", "rest", "value", "others"}
    assert defined_names(CELL) == variables | {"f", "A"}
    assert defined_names(CELL, imports=True) == variables | {"f", "A", "os", "circle"}
    assert defined_names(CELL, classes_only=True) == {"A"}


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("[[(inner := row) for row in (outer := [row])] for row in x]", {"inner", "outer"}),
        ("[(lambda: (local := row))() for row in x]", set()),
        ("{(row := 1): [key for key, (a, *b) in value] for x[(place := 0)], y.z in pairs}", {"row", "place"}),
        ("(kept for row in [(first := 1)] if (last := row))", {"first", "last"}),
    ],
)
def test_only_an_assignment_expression_stores_outside_its_comprehension(source, names):
    assert defined_names(source) == names


def test_comprehensions_within_assignment_expressions_are_visited_once():
    """Each level visited all deeper ones: 40 of them were some 2^40 visits."""
    levels = 40
    source = "".join(f"[a{level} := " for level in range(levels)) + "0" + " for _ in x]" * levels
    found = list(islice(bindings(ast.parse(source).body), 10 * levels))
    assert sorted(name for name, _ in found) == sorted(f"a{level}" for level in range(levels))


@pytest.mark.parametrize("source", ["def broken(:", "x = 1\0", "(" * 10_000, ""])
def test_a_cell_that_does_not_parse_defines_nothing(source):
    assert defined_names(source) == set()


def test_a_cell_without_its_magics_keeps_the_numbers_of_its_lines():
    assert without_magics("%time\nx = 7 % 2\n  !ls\ny = 1") == "\nx = 7 % 2\n\ny = 1"


@pytest.mark.parametrize("magic", ["", "%time\n"], ids=["alone", "beside a magic"])
@pytest.mark.parametrize(
    "source",
    [
        "def f():\n    '''\n%'''; return g(); '''\n    '''\n    return 1",
        "def f():\n    # \u2028    return 1\n    return g()",
        "def f():\n    # \x0c    return 1\n    return g()",
        "x = (7\n% 4)\ny = '''\n%a\n!b\n%''' + g()",
        "x = 7 \\\n% 4",
        "x = 'a\u2028%b'",
    ],
)
def test_what_looks_like_a_magic_within_a_text_or_bracket_is_python(source, magic):
    """Code that a text hid from what parses cells, and not from Python, was asked no questions about."""
    assert without_magics(magic + source) == "\n" * bool(magic) + source


@pytest.mark.parametrize("source", ["%time\n" + "'''\n%'''\n" * 20_000, "!x\n(" * 9_000, "%x\n  y\n %z\nw"])
def test_a_cell_in_which_magics_cannot_be_told_does_not_parse(source):
    with pytest.raises(SyntaxError):
        parse_source(without_magics(source))


def test_what_python_warns_of_is_in_no_log():
    """Each line of a notebook could be one of the grader's log, with the characters that stand in it."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        assert len(parse_source("[0for a in ()]\n'\\\x1b'\n" * 3).body) == 6
    assert told == []


def test_symbol_tables_are_those_of_every_scope_with_the_modules_first():
    tables = symbol_tables("def f():\n    return lambda x: x\nclass A:\n    def g(self): pass\n")
    assert tables[0].get_type() == "module"
    assert sorted(one.get_name() for one in tables[1:]) == ["A", "f", "g", "lambda"]


@pytest.mark.parametrize(
    "source",
    ["def f(:", "a = '\0'", "x = 1\n" * 100_000, "(" * 500 + ")" * 500, "-" * 100_000 + "1", "def f(x, x): pass"],
)
def test_of_what_cannot_be_compiled_there_are_no_symbol_tables(source):
    with pytest.raises(SyntaxError):
        symbol_tables(source)
