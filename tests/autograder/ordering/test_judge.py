"""Orders are judged by running them: any right one passes, and what is said of a wrong one is true."""

import re

import pytest

from autograder.exercises import registry
from autograder.ordering import judge as judging
from autograder.ordering import out_of_place
from autograder.ordering.answer import BadOrder, read_order
from autograder.ordering.judge import judge
from autograder.ordering.make import PlacedLine, make
from autograder.ordering.prove import equivalent, write_order
from autograder.sandbox import choose

PUZZLE = make(registry.find("masks.decoder"), "ada")
BRANCH = make(registry.find("attention.scaled_dot_product"), "ada")


@pytest.fixture(scope="module")
def backend():
    return choose()


def test_the_answers_own_order_and_an_equivalent_one_pass(backend):
    (first, *_) = equivalent(PUZZLE, 5)
    for order in (PUZZLE.right, first):
        verdict = judge(PUZZLE, read_order(PUZZLE, write_order(order)), backend)
        assert verdict.status == "passed" and {status for _, status in verdict.checks} <= {"passed", "not_run"}
        assert verdict.sentences == (judging.PASSED,) and not verdict.mistakes
    assert first != PUZZLE.right


def test_the_line_of_a_mistake_is_told_by_its_sentence(backend):
    number = next(n for n, line in enumerate(PUZZLE.lines, 1) if line.mistake)
    order = PUZZLE.with_mistake(number)
    verdict = judge(PUZZLE, order, backend)
    at = [one.number for one in order].index(number) + 1
    assert verdict.status == "failed" and verdict.mistakes[0][:2] == (at, PUZZLE.line(number).mistake)
    assert PUZZLE.line(number).sentence.strip() in verdict.sentences[0] and f"Line {at} " in verdict.sentences[0]


def test_the_first_line_out_of_place_is_named(backend):
    *begin, before, last = BRANCH.right  # the result is returned before the weights that it needs
    verdict = judge(BRANCH, [*begin, last, before], backend)
    assert verdict.status == "failed" and verdict.line == len(BRANCH.right) - 1
    assert verdict.sentences[0].startswith(f"Line {verdict.line} of your order is the first that is out of place")


def test_a_header_before_its_body_is_not_blamed_for_a_later_line(backend):
    puzzle = make(registry.find("transformer.feed_forward"), "ada")
    construct, sets_up, *fields, run, result = puzzle.right
    assert judge(puzzle, [run, result, construct, sets_up, *fields], backend).status == "passed"
    verdict = judge(puzzle, [run, result, sets_up, construct, *fields], backend)
    assert verdict.line == 3 and "Line 3 of your order is the first that is out of place" in verdict.sentences[0]


def test_a_wrong_indentation_is_told_apart_from_a_wrong_place(backend):
    order = [*BRANCH.right]
    deep = next(n for n, one in enumerate(order) if one.level)
    order[deep + 1] = PlacedLine(order[deep + 1].number, 1)
    verdict = judge(BRANCH, order, backend)
    assert verdict.line == deep + 2 and "wrong indentation" in verdict.sentences[0]


def test_lines_that_are_missing_are_not_called_misplaced(backend):
    verdict = judge(PUZZLE, PUZZLE.right[:2], backend)
    assert verdict.status == "failed" and verdict.line is None and verdict.sentences[0] == out_of_place.MISSING


def test_what_python_cannot_read_is_told_with_its_line_and_not_run():
    header = next(n for n, one in enumerate(BRANCH.right) if BRANCH.line(one.number).text.endswith(":"))
    order = [PlacedLine(one.number, 0) for one in BRANCH.right]
    verdict = judge(BRANCH, order, choose())
    assert verdict.line == header + 2 and verdict.checks == ()
    assert re.search(rf"cannot read line {header + 2} .*expected an indented block", verdict.sentences[0])
    assert "on line" not in verdict.sentences[0]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "no line is named"), ("x", "'x' is no line"), ("1:", "'1:' is no line"), ("1:-1", "is no line"),
        ("1:9", "at most 8"), ("0", "there is no line 0"), ("99", "there is no line 99"), ("1 1", "named twice"),
        ("1,2,1", "named twice"), ("9" * 400, "there is no line 999999999"), ("²", "is no line"),
    ],
)  # fmt: skip
def test_what_is_no_order_is_refused_in_a_line(text, why):
    with pytest.raises(BadOrder, match=why) as refused:
        read_order(PUZZLE, text)
    assert "\n" not in str(refused.value) and len(str(refused.value)) < 200
