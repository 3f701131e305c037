"""Orders that data flow says are equivalent."""

from autograder.ordering.flow import orders
from autograder.ordering.lines import split


def found(program: str) -> set[str]:
    lines = split(program)
    return {" | ".join(lines[n].text for n in order) for order in orders(lines, 0, len(lines), 100)}


def test_statements_that_need_nothing_of_each_other_change_places():
    assert found("a = 1\nb = 2\nc = a + b\n") == {"b = 2 | a = 1 | c = a + b"}


def test_a_name_that_is_bound_again_keeps_the_order():
    assert found("x = 1\ny = x\nx = 2\n") == set()


def test_what_has_other_effects_keeps_its_place():
    for line in ("a.append(1)", "b = a.popleft()", "a[0] = 1", "a += 1", "return a", "print(1)", "b = torch.rand(2)",
                 "b = a.mul_(2)"):  # fmt: skip
        assert found(f"c = 1\n{line}\nd = 2\n") == set(), line


def test_bodies_are_shuffled_below_their_headers():
    program = "if x:\n    a = 1\n    b = 2\nelse:\n    a = b = 0\nc = 3\n"
    assert found(program) == {
        "if x: | b = 2 | a = 1 | else: | a = b = 0 | c = 3",
        "c = 3 | if x: | a = 1 | b = 2 | else: | a = b = 0",
        "c = 3 | if x: | b = 2 | a = 1 | else: | a = b = 0",
    }


def test_definitions_run_later():
    assert found("def f():\n    return g()\ndef g():\n    return 1\n") == {
        "def g(): | return 1 | def f(): | return g()"
    }


def test_no_more_orders_than_wanted():
    lines = split("".join(f"x{n} = {n}\n" for n in range(8)))
    assert len(set(orders(lines, 0, 8, 50))) == 50
