"""The fragment escapes everything, runs nothing, and says what a student needs."""

import pytest

from autograder.api import CheckResult, Verdict
from autograder.nbgrader.feedback import clean
from autograder.report import verdict_html, verdict_line

EVIL = "<script>alert(1)</script>"


def verdict(**changed):
    base = {
        "exercise": "attention.attend",
        "status": "failed",
        "score": 0.0,
        "max_score": 2.0,
        "checks": (CheckResult(name="row_sums", status="failed", message="rows add up to 0.5"),),
        "misconception": "divided_by_d",
        "hint": "Your scores are divided by d.",
        "counterexample": {"q": [[1.0, 2.0], [3.0, 0.25]], "yours": [0.5], "mask": True},
        "seed": 7,
        "sandbox": "bubblewrap",
    }
    return Verdict(**(base | changed))


def test_says_status_score_hint_property_example_box_and_seed():
    page = verdict_html(verdict())
    words = ("not yet right", "0 of 2", "divided by d.", "row sums", "add up to 0.5", "0.25", "bubblewrap", "seed 7")
    for word in words:
        assert word in page


@pytest.mark.parametrize("place", ["exercise", "reason", "hint", "misconception", "sandbox"])
def test_escapes_every_text(place):
    page = verdict_html(verdict(**{place: EVIL} | ({"hint": None} if place == "misconception" else {})))
    assert "<script" not in page
    assert "&lt;script" in page


def test_escapes_checks_and_examples():
    checks = (CheckResult(name=EVIL, status="failed", message=EVIL),)
    page = verdict_html(verdict(checks=checks, counterexample={EVIL: EVIL, "x": [[EVIL]], "y": {EVIL: EVIL}}))
    assert "<script" not in page


def test_the_feedback_page_keeps_the_fragment_as_it_is():
    page = verdict_html(verdict())
    assert clean(page).count("<td") == page.count("<td")
    assert "background-color" in clean(page)


def test_large_values_are_cut():
    page = verdict_html(verdict(reason="x" * 100_000, counterexample={"q": [[0.5] * 1000] * 1000}))
    assert len(page) < 50_000


def test_not_graded_is_not_the_students_fault():
    assert "not your mistake" in verdict_html(verdict(status="not_graded", hint=None, reason="a check crashed"))


def test_json_object_renders_like_the_verdict():
    assert verdict_html(verdict().as_json()) == verdict_html(verdict())


def test_line():
    assert verdict_line(verdict()) == "✗ attention.attend 0/2 · divided_by_d"
    assert verdict_line(verdict(status="passed", score=2.0, misconception=None)) == "✓ attention.attend 2/2"


@pytest.mark.parametrize("steps", range(4))
def test_help_comes_in_steps(steps):
    """Concept, symptoms, counter-example: so many as the instructor lets be shown. What failed is told in any case."""
    page = verdict_html(verdict(checks=(CheckResult(name="values", status="failed", message="off by 2"),)), steps)
    shown = ["divided by d" in page, "off by 2" in page, "smallest example" in page]
    assert shown == [steps >= 1, steps >= 2, steps >= 3]
    assert "values" in page and "not yet right" in page


def test_who_sees_whom_is_drawn_and_only_with_the_symptoms():
    flow = CheckResult(name="who sees whom", status="failed", message="an output moves", map=("●▲·", "○●●"))
    page = verdict_html(verdict(checks=(flow,)))
    assert [page.count(f">{sign}<") for sign in "●▲○·"] == [3, 1, 1, 1] and "must not be" in page
    assert ">▲<" in clean(page) and "▲" not in verdict_html(verdict(checks=(flow,)), hints=1)
