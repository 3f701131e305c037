"""The benchmark of a student's wait: what it asks, and what its page says. The server itself is started by hand."""

from autograder.exercises import registry
from bench.checks import GOALS, TimedCheck, draw_answers, markdown_page


def test_right_and_wrong_answers_of_different_exercises_take_turns():
    drawn = draw_answers(8, seed=3)
    assert [name.split("/")[0] for _, name, _ in drawn] == ["right", "wrong"] * 4
    assert len({exercise for exercise, _, _ in drawn}) == 8
    assert drawn == draw_answers(8, seed=3) != draw_answers(8, seed=4)
    assert {exercise for exercise, _, _ in drawn} <= {exercise.id for exercise in registry.exercises()}


def test_the_page_has_the_median_the_tail_and_the_first_check():
    warm = [TimedCheck(f"unit.{n}", "right/a" if n % 2 else "wrong/b", "passed", n / 10) for n in range(1, 22)]
    text = markdown_page(warm, [4.0, 2.0, 3.0], (0.5, 1.5))
    assert f"| median | 1.10 | {GOALS['median']:.1f} |" in text
    assert f"| 95 of 100 take at most | 2.00 | {GOALS['p95']:.1f} |" in text
    assert "| the longest | 2.10 |  |" in text
    assert f"| the first check of a lab, median of 3 | 3.00 | {GOALS['first']:.1f} |" in text
    assert "`unit.21` (right/a) 2.1 s" in text
