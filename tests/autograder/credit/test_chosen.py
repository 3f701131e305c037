"""A change may not choose among results that stand there already."""

import pytest

from autograder.credit.chosen import has_much_dead_code, liveness, selects_existing_code

SIZES = (1, 3)


def answers(cells):
    """What `f` says of some sizes."""
    space = {}
    try:
        exec(cells["cell"], space)
        return [space["f"](n) for n in SIZES]
    except Exception as error:
        return type(error)


def parts(source):
    expected = answers({"cell": source})
    return liveness({"cell": source}, lambda without: answers(without) != expected)


def f(body):
    return "def f(n):\n" + "".join(f"    {line}\n" for line in body.splitlines())


SQUARES, CUBES = "[i * i for i in range(n)]", "[i * i * i for i in range(n)]"
HELPERS = f"def one(n):\n    return {SQUARES}\ndef other(n):\n    return {CUBES}\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (f(f"a = {SQUARES}\nb = {CUBES}\nreturn b"), f(f"a = {SQUARES}\nb = {CUBES}\nreturn a")),
        (f(f"return [{SQUARES}, {CUBES}][1]"), f(f"return [{SQUARES}, {CUBES}][0]")),
        (f(f"return [{SQUARES}, {CUBES}][0]"), f(f"return [{CUBES}, {SQUARES}][0]")),
        (f(f"a = {SQUARES}\na = {CUBES}\nreturn a"), f(f"a = {SQUARES}\npass\nreturn a")),
        (f(f"if n > 9:\n    return {SQUARES}\nreturn {CUBES}"), f(f"if True:\n    return {SQUARES}\nreturn {CUBES}")),
        (f(f"if n > 9:\n    return {SQUARES}\nreturn {CUBES}"), f(f"if n < 9:\n    return {SQUARES}\nreturn {CUBES}")),
        (f(f"return {SQUARES} if n > 9 else {CUBES}"), f(f"return {SQUARES}")),
        (
            HELPERS + f("right, way = one, other\nreturn way(n)"),
            HELPERS + f("right, way = other, one\nreturn way(n)"),
        ),
        (
            f("a = [i * i + 2 * i + 1 - n for i in range(n) if i + 1]\nreturn n"),
            f("a = [i * i + 2 * i + 1 - n for i in range(n) if i + 1]\nreturn a"),
        ),
    ],
)
def test_another_result_that_stood_there_is_chosen(before, after):
    assert selects_existing_code(parts(before), parts(after))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (f(f"a = {CUBES}\nreturn a"), f(f"a = {SQUARES}\nreturn a")),
        # a step that was forgotten: what was alive still is
        (f("q = [n + 1, n, 2]\nk = [n - 1]\nreturn q + q"), f("q = [n + 1, n, 2]\nk = [n - 1]\nreturn q + k")),
        (f("q = [n + 1, n, 2 * n]\nk = q + [n]\nreturn q"), f("q = [n + 1, n, 2 * n]\nk = q + [n]\nreturn k")),
        (f("q = [n]\nq = q * 2\nreturn q"), f("q = [n]\npass\nreturn q")),
        (f("q, k = n + 1, n * 2\nreturn q - k"), f("q, k = n * 2, n + 1\nreturn q - k")),
    ],
)
def test_a_slip_is_no_choice(before, after):
    assert not selects_existing_code(parts(before), parts(after))


def test_what_stops_before_may_leave_little_unused():
    assert has_much_dead_code(parts(f(f"a = {CUBES}\nreturn {SQUARES}")))
    assert not has_much_dead_code(parts(f(f"a = n\nreturn {SQUARES}")))


def test_too_many_parts_say_nothing():
    assert liveness({"cell": f("n = n + 1\n" * 300)}, lambda cells: True) is None


COUNTING = "a = []\ni = 0\nwhile i < n:\n    a.append(i * i)\n    i += 1\nreturn {}"
WITH_A_BREAK = "a = []\nwhile True:\n    if len(a) == n:\n        break\n    a.append(n)\nreturn {}"


@pytest.mark.parametrize(("body", "ending"), [(COUNTING, "i += 1"), (WITH_A_BREAK, "a.append(n)")])
def test_a_loop_is_left_with_the_part_that_ends_it(body, ending):
    """So all programs end, and that part is dead where the loop's result is not used."""
    assert ending in parts(f(body.format("a"))).alive
    assert ending in parts(f(body.format("n"))).dead


def test_the_parts_of_a_definition_in_a_loop_are_left_out_as_elsewhere():
    body = "i = 0\nwhile i < n:\n    def g(k):\n        j = k + 1\n        return j\n    i = g(i)\nreturn i + 1"
    assert "return j" in parts(f(body)).alive
