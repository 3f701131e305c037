"""The fragment escapes everything, runs nothing, and says what a student needs."""

import re
from pathlib import Path

import pytest

from autograder.api import CheckResult, Verdict
from autograder.nbgrader.feedback import clean
from autograder.report import verdict_html, verdict_line

NAN = "the result at [0, 1] is nan where a finite number is expected"
OFF = "the result at [0, 0, 0] is off by 0.5 (1 of 2 entries differ)"
EVIL = "<script>alert(1)</script>"
GOLDEN = Path(__file__).parent / "golden"


def verdict(**changed):
    base = {
        "exercise": "attention.attend",
        "status": "failed",
        "score": 0.0,
        "max_score": 2.0,
        "checks": (CheckResult(name="row_sums", status="failed", message="rows add up to 0.5"),),
        "misconception": "divided_by_d",
        "hint": "Your scores are divided by d.",
        "counterexample": {
            "call": "attend",
            "inputs": {"q": [[1.0, 2.0], [3.0, 0.25]], "causal": True},
            "yours": [[[0.5, 0.5]]],
            "wrong": [[[True, False]]],
        },
        "seed": 7,
        "sandbox": "bubblewrap",
    }
    return Verdict(**(base | changed))


def test_says_status_score_hint_property_example_box_and_seed():
    page = verdict_html(verdict())
    words = ("not yet right", "0 of 2", "divided by d.", "row sums", "add up to 0.5", "0.25", "causal = True")
    words += ("bubblewrap", "seed 7")
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
    """What a student hands in may hold a card: without its style sheet it still reads, as lists and tables."""
    page = verdict_html(verdict(), styled=False)
    for tag in ("<td", "<li", "<th", "<caption"):
        assert page.count(tag) > 0 and (tag == "<caption" or clean(page).count(tag) == page.count(tag))
    assert "✗ 0.5" in clean(page)


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
    assert "<details open>" in page
    assert ">▲<" in clean(page) and "▲" not in verdict_html(verdict(checks=(flow,)), hints=1)


def check(name, status, points, of, kind, message=""):
    return CheckResult(name=name, status=status, points=points, of=of, property=kind, message=message)


CASES = {
    "passed": verdict(
        status="passed", score=2.0, misconception=None, hint=None, counterexample=None,
        checks=(
            check("right values", "passed", 1.5, 1.5, "values"),
            check("gradients", "passed", 0.5, 0.5, "gradients"),
        ),
    ),
    "failed": verdict(
        checks=(
            check("right values", "failed", 0.0, 1.5, "values", OFF),
            check("leaves no trace", "passed", 0.0, 0.5, "purity"),
        ),
    ),
    "partial": verdict(
        score=1.75, misconception=None, hint="A row that may see nothing is not a number.",
        checks=(
            check("right values", "passed", 1.5, 1.5, "values"),
            check("float64", "passed", 0.25, 0.25, "dtypes"),
            check("an empty row", "failed", 0.0, 0.25, "edges", NAN),
            CheckResult(name="on a CUDA device", status="not_run", message="no CUDA device is here"),
        ),
        counterexample={
            "call": "softmax", "inputs": {"scores": [[[1.0, -2.0]]], "mask": [[[False, True]]]},
            "yours": [["nan", "nan"], [0.25, 0.75]], "wrong": [[True, True], [False, False]],
            "entry": [0, 1], "first_wrong_entry": [0, 0], "expected_shape": [2, 2], "off_by": None,
            "message": NAN, "first_wrong_step": None,
        },
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_the_card_is_the_golden_one(name):
    """To renew after a change that is meant: print `verdict_html(CASES[name], styled=False)` into the file."""
    page = verdict_html(CASES[name], styled=False)
    assert page.replace("><", ">\n<") + "\n" == (GOLDEN / f"{name}.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", CASES)
def test_nothing_runs_and_nothing_is_fetched(name):
    page = verdict_html(CASES[name])
    assert not re.search(r"<script|\son\w+=|https?:|url\(|@import|<link|<img|<iframe", page)
    assert page.count("<style>") == 1 and len(page) < 20_000


def test_what_is_right_comes_first_and_what_is_left_is_said():
    page = verdict_html(CASES["partial"])
    order = ["Right so far: values, dtypes.", "A row that may see nothing", "✗ edges"]
    order += ["Still to be had: 0.25 of 2 (edges 0.25)", "smallest example"]
    places = [page.index(text) for text in order]
    assert places == sorted(places)
    assert "✓ values <small>1.5 of 1.5</small>" in page and "– on a CUDA device <small>not run</small>" in page


def test_the_example_marks_wrong_entries_and_shows_no_right_value_there():
    page = verdict_html(CASES["partial"])
    assert page.count("✗ nan") == 2 and page.count('tfkit-unknown">?<') == 2 and page.count("0.75") == 2
    assert "tfkit-hidden-cell" in page and "[0, 1]" not in page and "at row 0, column 1 is nan" in page
    assert "your answer" not in verdict_html(CASES["partial"], hints=2)


def test_points_that_are_right_but_not_earned_are_explained():
    assert "earns its points once ordinary values are right" in verdict_html(CASES["failed"])
    assert "Still to be had" not in verdict_html(CASES["passed"])
