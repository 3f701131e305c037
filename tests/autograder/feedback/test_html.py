"""The fragment escapes everything, runs nothing, and says what a student needs."""

import re
from pathlib import Path
from urllib.parse import quote

import pytest

from autograder.api import CheckResult, Verdict
from autograder.feedback.html import verdict_html
from autograder.feedback.sanitize import sanitize_html
from autograder.feedback.text import verdict_line, verdict_text

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


def test_the_title_heads_the_card_and_the_id_stands_beside_it():
    page = verdict_html(verdict(title="Look back at <every> state"), styled=False)
    title, name = page.index("Look back at &lt;every&gt; state</strong>"), page.index("<code>attention.attend</code>")
    assert title < name < page.index("tfkit-v-points")
    assert "<strong" not in verdict_html(verdict(), styled=False)


def test_an_answer_as_it_was_released_is_asked_for_and_not_judged():
    said = "`attend` is not written yet"
    checks = (CheckResult(name="written", status="failed", message=said, of=2.0),)
    page = verdict_html(
        verdict(checks=checks, misconception=None, hint=None, counterexample=None, reason="not written yet")
    )
    assert "○ to be written" in page and "tfkit-is-unwritten" in page
    assert "<code>raise NotImplementedError</code>" in page
    assert "✗" not in page and "seed" not in page


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
        assert page.count(tag) > 0 and (tag == "<caption" or sanitize_html(page).count(tag) == page.count(tag))
    assert "✗ 0.5" in sanitize_html(page)


def test_large_values_are_cut():
    page = verdict_html(verdict(reason="x" * 100_000, counterexample={"q": [[0.5] * 200] * 200}))
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
    flow = CheckResult(name="information flow", status="failed", message="an output moves", map=("●▲·", "○●●"))
    page = verdict_html(verdict(checks=(flow,)))
    got, right = (part.partition("</table>")[0] for part in page.split("<caption>")[1:3])
    assert [got.count(f">{sign}<") for sign in "●▲○·"] == [3, 1, 1, 1] and "but must not" in page
    assert [right.count(f">{sign}<") for sign in "●▲○·"] == [4, 0, 0, 2] and right.startswith("what may be seen")
    assert "<details open>" in page
    assert ">▲<" in sanitize_html(page) and "▲" not in verdict_html(verdict(checks=(flow,)), hints=1)


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
            check("no side effects", "passed", 0.0, 0.5, "purity"),
        ),
    ),
    "partial": verdict(
        score=1.75, misconception=None, hint="A row that may see nothing is not a number.",
        checks=(
            check("right values", "passed", 1.5, 1.5, "values"),
            check("float64", "passed", 0.25, 0.25, "dtypes"),
            check("an empty row", "failed", 0.0, 0.25, "edges", NAN),
            CheckResult(name="on a CUDA device", status="not_run", message="this machine has no CUDA device"),
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
    order += ["Not yet earned: 0.25 of 2 (edges 0.25)", "smallest example"]
    places = [page.index(text) for text in order]
    assert places == sorted(places)
    assert "✓ values <small>1.5 of 1.5</small>" in page and "– on a CUDA device <small>not run</small>" in page


def test_the_example_marks_wrong_entries_and_shows_no_right_value_there():
    page = verdict_html(CASES["partial"])
    assert page.count("✗ nan") == 2 and page.count('tfkit-unknown">?<') == 2 and page.count("0.75") == 2
    assert "tfkit-hidden-cell" in page and "[0, 1]" not in page and "at row 0, column 1 is nan" in page
    assert "your answer" not in verdict_html(CASES["partial"], hints=2)


def test_points_that_are_right_but_not_earned_are_explained():
    assert "earn their points once ordinary values are right" in verdict_html(CASES["failed"])
    assert "Not yet earned" not in verdict_html(CASES["passed"])


DEPARTURE = {
    "cell": "answer-1",
    "line": 4,
    "text": "scores = q @ k.mT",
    "sentence": "`scores` is 2 times what it should be; each row differs",
    "value": {
        "name": "scores",
        "shape": [2, 2, 2],
        "value": [[1.0, 2.0], [3.0, 4.0]],
        "wrong": [[True, False], [False, False]],
    },
    "steps": [
        {"cell": "answer-1", "line": 3, "text": "q = a", "yours": [2], "right": [2], "known": True},
        {
            "cell": "answer-1",
            "line": 4,
            "text": "scores = q @ k.mT",
            "yours": [2, 2, 2],
            "right": [2, 2, 2],
            "known": False,
        },
        {"cell": None, "line": None, "text": "", "yours": None, "right": [], "known": None},
        {"cell": "answer-1", "line": 5, "text": "return scores", "yours": [2, 2, 2], "right": None, "known": False},
    ],
}


def test_the_line_stands_in_the_card_with_its_value_and_the_steps():
    page = verdict_html(verdict(departure=DEPARTURE, line=4))
    assert 'class="tfkit-v-line tfkit-line-4 tfkit-in-answer-1"' in page
    assert "<b>Line 4</b>: <code>scores</code> is 2 times what it should be; each row differs." in page
    assert "The first 2 × 2 of 2 × 2 × 2." in page and "✗ 1" in page
    rows = re.findall(r"<tr[^>]*><td>(.?)</td><td>(.*?)</td>.*?<td>([^<]*)</td><td>([^<]*)</td></tr>", page)
    assert rows == [("✓", "3", "2", "2"), ("✗", "4", "2 × 2 × 2", "2 × 2 × 2"), ("", "", "", "one number"),
                    ("·", "5", "2 × 2 × 2", "")]  # fmt: skip


def walked(**changed):
    """A departure whose first line has a value to show."""
    first = {"name": "q", "shape": [2], "value": [1.5, 2.5]}
    steps = [{**DEPARTURE["steps"][0], "value": first}, {**DEPARTURE["steps"][1], "right": [2, 2, 4]}]
    return {**DEPARTURE, "steps": steps, **changed}


def test_a_mistake_is_walked_in_a_fold_from_the_right_values_to_the_wrong_ones():
    page = verdict_html(verdict(departure=walked(), line=4))
    fold = re.search(r'<details class="tfkit-v-walk"><summary>.*?</details>', page).group()
    first, last = re.findall(r'<li class="tfkit-v-stop.*?</li>', fold)
    assert "✓ <b>Line 3</b>: A right answer has this value, too." in first and "<td" in first and "2.5" in first
    assert last.startswith('<li class="tfkit-v-stop tfkit-v-departing">')
    assert "✗ <b>Line 4</b>: <code>scores</code>" in last
    assert "A right answer has shape 2 × 2 × 4." in last and "✗ 1" in last
    assert "what must hold" in last and '"tfkit-unknown">?<' in last


def test_lines_of_another_cell_are_told_apart_by_it_and_are_not_walked():
    helper = {**walked()["steps"][0], "cell": "answer-0", "text": "return h", "yours": [9]}
    steps = [{**helper, "line": 4}, *walked()["steps"], {**helper, "line": 5}]
    page = verdict_html(verdict(departure=walked(steps=steps), line=4))
    fold = re.search(r'<details class="tfkit-v-walk"><summary>.*?</details>', page).group()
    assert fold.count("<li") == 2 and "return h" not in fold
    rows = re.findall(r"<tr[^>]*><td>(.?)</td><td>(.*?)</td>", page)
    assert rows == [("✓", "another cell"), ("✓", "3"), ("✗", "4"), ("✓", "another cell")]


def test_a_stop_at_a_line_of_a_loop_says_which_time_it_shows():
    steps = [{**walked()["steps"][0], "again": True}, *walked()["steps"][1:]]
    page = verdict_html(verdict(departure=walked(steps=steps), line=4))
    assert "has this value, too. This line ran more than once; here is its first value.</p>" in page
    assert "more than once" not in verdict_html(verdict(departure=walked(), line=4))


def test_a_value_that_no_right_answer_has_is_not_called_wrong_on_the_way():
    steps = [{**walked()["steps"][0], "known": False}, *walked()["steps"][1:]]
    page = verdict_html(verdict(departure=walked(steps=steps), line=4))
    assert "· <b>Line 3</b>: No right answer that we know has this value, which need not be wrong." in page


def test_a_right_answers_value_without_a_shape_makes_no_row_of_blanks():
    one = DEPARTURE["steps"][0]
    blank = {**one, "line": None, "text": "", "yours": None, "right": None}
    page = verdict_html(verdict(departure={**DEPARTURE, "steps": [blank, {**blank, "right": [3]}, one]}))
    _, *rows = page.partition('class="tfkit-v-steps"')[2].split("<tr>")
    assert len([row for row in rows if "<td></td><td></td>" in row]) == 1


@pytest.mark.parametrize("changed", [{"line": None}, {"steps": DEPARTURE["steps"]}])
def test_there_is_no_walk_without_a_line_or_values_before_it(changed):
    page = verdict_html(verdict(departure=walked(**changed), line=changed.get("line", 4)))
    assert 'class="tfkit-v-walk"' not in page and 'class="tfkit-v-steps"' in page


def test_a_walk_is_help_of_the_third_step_and_escaped():
    assert 'class="tfkit-v-walk"' not in verdict_html(verdict(departure=walked(), line=4), hints=2)
    value = {"name": EVIL, "shape": [2], "value": [1, 2]}
    steps = [{**walked()["steps"][0], "text": EVIL, "value": value}, *walked()["steps"][1:]]
    page = verdict_html(verdict(departure=walked(steps=steps), line=4))
    assert 'class="tfkit-v-walk"' in page and "<script" not in page and EVIL not in page


def test_the_line_is_help_of_the_second_step_and_its_value_of_the_third():
    two, one = (verdict_html(verdict(departure=DEPARTURE, line=4), hints=hints) for hints in (2, 1))
    assert "Line 4" in two and "tfkit-v-steps" not in two.partition("</style>")[2] and "The first 2" not in two
    assert "Line 4" not in one


def test_the_line_is_escaped_and_its_cell_is_a_name():
    evil = {**DEPARTURE, "cell": '"><script>', "text": EVIL, "sentence": f"`{EVIL}` {EVIL}"}
    page = verdict_html(verdict(departure=evil, line=4))
    assert "<script" not in page and "tfkit-in-" not in page


def test_the_terminal_names_the_line():
    said = verdict_text(verdict(departure=DEPARTURE, line=4).as_json())
    assert "Line 4: `scores` is 2 times what it should be; each row differs.\n    scores = q @ k.mT" in said


def test_a_card_says_where_to_read_again():
    section = ("02-masks", "1 · The `causal` mask")
    card = verdict_html(verdict(section=section))
    assert "Read again: 02-masks, “1 · The <code>causal</code> mask”" in card
    assert f'href="#{quote("1-·-The-causal-mask")}"' in card
    assert "Read again: 02-masks, “1 · The `causal` mask”" in verdict_text(verdict(section=section).as_json())
    assert "Read again" not in verdict_html(verdict())
    assert "Read again" not in verdict_html(verdict(section=section, status="passed"))


def test_the_first_help_offers_lines_to_put_in_order_where_there_are_some():
    offered = verdict(ordering=True)
    page, said = verdict_html(offered, styled=False), verdict_text(offered.as_json())
    assert "<code>from autograder import order; order(&quot;attention.attend&quot;)</code>" in page
    assert "Put the lines of a right answer in order first: `autograder order attention.attend`" in said
    assert "order(" not in verdict_html(verdict()) + verdict_html(offered, hints=0)
    assert "order(" not in verdict_html(verdict(ordering=True, status="passed"))


def test_the_first_help_is_a_question_whose_answer_is_folded():
    asked = {"text": "For `length = 2`: which shape must `scores` have?", "yours": [3, 2], "right": [2, 3]}
    card = verdict_html(verdict(question=asked))
    fold = re.search(r'<details class="tfkit-v-ask">(.*?)</details>', card, re.DOTALL).group(1)
    assert "which shape must <code>scores</code> have?</summary>" in fold
    assert '<b class="tfkit-v-yours">3 × 2</b>' in fold and '<b class="tfkit-v-right">2 × 3</b>' in fold
    for hints, shown, told in ((0, False, False), (1, True, False), (2, True, False), (3, True, True)):
        card = verdict_html(verdict(question=asked), hints)
        assert ("tfkit-v-ask" in card, "2 × 3" in card) == (shown, told)
    assert asked["text"] in verdict_text(verdict(question=asked).as_json())
