"""Obfuscated code does the same, and nothing of its bytecode stays where it was."""

from __future__ import annotations

import pytest

from autograder.hunts.obfuscate import obfuscate

SOURCE = """
class Counts:
    def __init__(self, start):
        "Where to begin."
        self.at = start

    def up_to(self, end):
        global seen
        seen = 0
        for number in range(self.at, end):
            if number % 2:
                yield number
                seen += 1
"""


def run(source: str):
    space: dict = {}
    exec(source, space)
    return space, list(space["Counts"](2).up_to(9)), space["seen"]


@pytest.mark.parametrize("seed", ["a", "b"])
def test_it_does_the_same(seed):
    (shown, *before), (other, *after) = run(SOURCE), run(obfuscate(SOURCE, seed))
    assert before == after == [[3, 5, 7], 3]
    one, two = (space["Counts"].up_to.__code__ for space in (shown, other))
    assert one.co_code not in two.co_code and one.co_names != two.co_names and one.co_varnames != two.co_varnames
    assert other["Counts"].__init__.__doc__ == "Where to begin."


def test_each_seed_gives_another_text():
    assert obfuscate(SOURCE, "a") == obfuscate(SOURCE, "a") != obfuscate(SOURCE, "b")


NAMES_OF_BUILTINS = """
def one_more(x, max=3):
    sum = x + 1
    def inner():
        return sum
    return inner(), max, len([any for any in (1, 2)])
"""


@pytest.mark.parametrize("seed", range(12))
def test_variables_may_have_the_names_of_builtins(seed):
    space: dict = {}
    exec(obfuscate(NAMES_OF_BUILTINS, str(seed)), space)
    assert space["one_more"](1) == (2, 3, 2)


VALUES = """
def values(given, scale=2.5):
    "What is computed."
    global seen
    seen = -7
    count: "int" = 12
    kept = {"a b": [1e-9, 0.1, -0.0, True, False, None, "", b"x"], count: f"{given!r:>4}"}
    class Inner:
        at = 3
    def twice(x: "int" = 4) -> "int":
        "Twice it."
        return 2 * x
    match given:
        case [1, *rest]:
            return kept, Inner.at, twice(), twice.__doc__, rest[-1], given.index(2), sorted(given, key=lambda at: -at)
"""


def test_constants_attributes_and_variables_are_others_with_the_same_values():
    spaces: list[dict] = [{}, {}]
    for space, source in zip(spaces, (VALUES, obfuscate(VALUES, "a")), strict=True):
        exec(source, space)
    shown, other = (space["values"] for space in spaces)
    assert repr(shown([1, 2, 5])) == repr(other([1, 2, 5])) and spaces[1]["seen"] == -7
    assert other.__defaults__ == (2.5,) and other.__doc__ == "What is computed."
    assert not {1e-9, 0.1, 12} & set(filter(lambda one: isinstance(one, float | int), other.__code__.co_consts))
    assert "index" in shown.__code__.co_names and "index" not in other.__code__.co_names
    plain: dict = {}
    exec(obfuscate("def f(x):\n    y = x\n    return y\n", "a"), plain)
    assert plain["f"](3) == 3 and "y" not in plain["f"].__code__.co_varnames
