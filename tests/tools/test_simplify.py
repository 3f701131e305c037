"""The passes change the text of a file and not what it computes."""

from __future__ import annotations

import pytest

from tfkit.tools.rewrite import join_lines
from tfkit.tools.simplify import simplify


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("return y if None is None else z", "return y"),
        ("return False or y", "return y"),
        ("f(*(x, y), **{'k': 1})", "f(x, y, k=1)"),
        ("return x\n    y(x)", "return x"),
        ("a, b = (g(each) for each in (x, y))\n    print(a, b)", "a = g(x)\n    b = g(y)\n    print(a, b)"),
        ("made = {'a': x}\n    print(made.pop('a'))", "print(x)"),
        ("x = x\n    print(x)", "print(x)"),
        ("return (f(x))", "return f(x)"),
        ("return x, (f)(x)", "return x, f(x)"),
        ("return (x // y) ** z", "return (x // y) ** z"),
        ("f((x - y) / z, (x or y) and z)", "f((x - y) / z, (x or y) and z)"),
    ],
)
def test_the_text_alone_shows_it(before, after):
    opening = "def MODEL(x, y, z, f, g):\n    "
    assert join_lines(simplify(opening + before + "\n")) == opening + after + "\n"


def test_what_is_put_in_keeps_together():
    text = "def either(x, y):\n    return x or y\n\n\ndef MODEL(x, y):\n    return not either(x, y)\n"
    assert "return not (x or y)" in simplify(text)


def test_a_function_that_writes_to_its_argument_is_not_put_where_the_argument_is_read_later():
    text = "def double(x):\n    x = x * 2\n    return x\n\n\ndef MODEL(x):\n    y = double(x)\n    return x + y\n"
    space = {}
    exec(simplify(text), space)
    assert space["MODEL"](3) == 9


@pytest.mark.parametrize(
    ("parameters", "arguments", "is_replaced"),
    [("x, y=1", "x, y", True), ("x, y=1, **more", "x, y", True), ("x, y=1", "y, x", False), ("x, y=2", "x, y", False)],
)
def test_a_function_that_only_passes_its_arguments_on_is_replaced(parameters, arguments, is_replaced):
    target = "def target(x, y=1):\n    if x:\n        return y\n    return x\n"
    text = f"{target}\n\ndef forward({parameters}):\n    return target({arguments})\n\n\nMODEL = forward\n"
    assert ("MODEL = target" in simplify(text)) is is_replaced
