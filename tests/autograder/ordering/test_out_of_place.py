"""The first line out of place: beginnings of right orders are completed, and where nothing shows it none is named."""

from dataclasses import replace

import pytest

from autograder.exercises import registry
from autograder.ordering import out_of_place
from autograder.ordering.make import PlacedLine, make
from autograder.ordering.out_of_place import completions, first_wrong
from autograder.ordering.prove import equivalent, write_order

PUZZLE = make(registry.find("masks.decoder"), "ada")
WITH_BODIES = ["transformer.feed_forward", "transformer.encoder_layer", "decoding.kv_cache", "attention.split_heads"]


@pytest.mark.parametrize("name", WITH_BODIES)
def test_each_beginning_of_a_right_order_is_completed_to_one(name):
    puzzle = make(registry.find(name), "ada")
    orders = [puzzle.right, *equivalent(puzzle, 2000)]
    right = {puzzle.program(order) for order in orders}
    for order in orders[:20]:
        for count in range(1, len(order) + 1):
            made = {puzzle.program(one) for one in completions(puzzle, order[:count])}
            assert made & right, write_order(order[:count])


def test_where_no_beginning_can_be_run_no_line_is_named():
    puzzle = make(registry.find("attention.scaled_dot_product"), "ada")
    deep = [replace(one, level=one.level + 3 * (at == 0)) for at, one in enumerate(puzzle.right)]
    assert first_wrong(puzzle, deep, lambda _: False) == (None, out_of_place.UNSURE)


def test_of_equal_lines_either_one_is_right():
    first, *others = (n for n, _ in enumerate(PUZZLE.lines, 1) if not PUZZLE.line(n).mistake)
    twin = replace(PUZZLE.line(first), place=99)
    puzzle = replace(PUZZLE, lines=(*PUZZLE.lines, twin))
    last = len(puzzle.lines)
    assert [one.number for one in out_of_place._renumbered(puzzle, [PlacedLine(last, 0), PlacedLine(first, 0)])] == [
        first,
        last,
    ]
