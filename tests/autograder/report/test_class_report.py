"""`autograder report`: its counts are those of the verdicts, its page stands alone and escapes what it shows."""

import json
from html import unescape
from html.parser import HTMLParser

import pytest

from autograder.api import CheckResult, Verdict
from autograder.cli import main
from autograder.nbgrader.config import install
from autograder.report import service
from autograder.report.group import exercises, point_biserial, read
from autograder.report.items import check_items, table_rows
from autograder.report.page import page as report

SCORES = {"a.attend": [1, 1, 1, 1, 0, 0], "a.mask": [1, 1, 0.5, 0, 0, None], "a.<b>": [0, 0, 0, 1, 1, 1]}


def verdict(exercise, score):
    """One with a misconception where it got nothing, not graded where the score is None."""
    if score is None:
        return Verdict(exercise=exercise, status="not_graded", score=0, max_score=2).as_json()
    wrong = {"misconception": "divided_by_d", "hint": "Divide by <sqrt d>."} if not score else {}
    status = "passed" if score == 1 else "failed"
    return Verdict(exercise=exercise, status=status, score=2 * score, max_score=2, **wrong).as_json()


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """Six students' graded notebooks."""
    root = tmp_path_factory.mktemp("course")
    install(root)
    for at in range(6):
        shown = [{"tfkit": {"verdict": verdict(name, got[at])}} for name, got in SCORES.items()]
        cells = [{"cell_type": "code", "source": "", "metadata": metadata} for metadata in ({}, *shown)]
        path = root / "autograded" / f"s{at}" / "03-heads" / "03-heads.ipynb"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps({"cells": cells}))
    return root


def test_a_mistake_that_was_made_among_others_only_has_a_sentence_too():
    both = {
        "misconception": "divided_by_d",
        "misconceptions": ("divided_by_d", "mask_ignored"),
        "hint": "Divide by sqrt d. And besides: use the mask.",
    }
    alone = {"misconception": "divided_by_d", "hint": "Divide by sqrt d."}
    made = [Verdict(exercise="a", status="failed", score=0, max_score=2, **more).as_json() for more in (both, alone)]
    (one,) = exercises([{"a": verdict} for verdict in made])
    found = {count.name: (count.hint, count.students) for count in one.misconceptions}
    assert found == {"divided_by_d": (alone["hint"], 2), "mask_ignored": (both["hint"], 1)}


def test_counts_are_those_of_the_verdicts(course):
    attend, mask, odd = exercises(read(course, "03-heads"))
    assert (attend.full, attend.part, attend.none, attend.not_graded) == (4, 0, 2, 0)
    assert (mask.full, mask.part, mask.none, mask.not_graded) == (2, 1, 2, 1)
    assert [(one.name, one.students) for one in odd.misconceptions] == [("divided_by_d", 3)]
    # the other two exercises: ½ ½ | ½ 1 ½, of mean 0.6 and deviation 0.2; two of five have full marks
    assert mask.discrimination == pytest.approx((1 / 2 - 2 / 3) / 0.2 * (0.4 * 0.6) ** 0.5)
    assert odd.discrimination < 0


def test_point_biserial_by_hand():
    # (mean of those who passed − of those who did not) / deviation · √(p q)
    assert point_biserial([True, True, False, False], [2, 4, 1, 1]) == pytest.approx(2 / 1.5**0.5 * 0.5)
    assert point_biserial([True, True], [1, 2]) is None
    assert point_biserial([True, False], [1, 1]) is None


class Found(HTMLParser):
    """Tags that are open, and all that could load something."""

    def __init__(self):
        super().__init__()
        self.open, self.loads = [], []

    def handle_starttag(self, tag, attributes):
        self.loads += [tag] * (tag in ("script", "img", "link", "iframe"))
        self.loads += [key for key, _ in attributes if key in ("src", "href")]
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_the_page_stands_alone(course, tmp_path):
    page = tmp_path / "report.html"
    with pytest.raises(SystemExit) as end:
        main(["report", str(course), "03-heads", "-o", str(page)])
    assert end.value.code == 0
    text = page.read_text(encoding="utf-8")
    found = Found()
    found.feed(text)
    assert not found.open
    assert not found.loads
    assert "<b>" not in text
    assert "Divide by &lt;sqrt d&gt;." in text
    assert "<code>a.mask</code>: 2 of 5 have full marks. Most common: <em>divided by d</em> (2)." in text


def test_exercises_are_named_by_their_titles_and_their_checks_stand_together():
    checks = tuple(CheckResult(name=name, status="passed") for name in ("right values", "gradients"))
    one = Verdict(exercise="a.b", title="Split & merge", status="passed", score=1, max_score=1, checks=checks).as_json()
    text = report("03-heads", [{"a.b": one}, {"a.b": one}])
    assert '<th scope="row">Split &amp; merge</th>' in text
    assert text.count('<th scope="rowgroup" rowspan="2">Split &amp; merge</th>') == 1
    assert text.count("Split &amp; merge") == 2 and "a.b" not in text


def test_the_page_is_in_the_readers_language(monkeypatch):
    lacking = CheckResult(
        name="on a CUDA device", status="not_run", message="this machine has no CUDA device", weight=0.0
    )
    checks = (CheckResult(name="right values", status="failed", of=1.0), lacking)
    one = Verdict(
        exercise="a.b", status="failed", score=0, max_score=1, checks=checks, misconception="a_b", hint="Non."
    )
    monkeypatch.setenv("LANGUAGE", "fr")
    text = report("03-heads", [{"a.b": one.as_json()}])
    assert '<html lang="fr">' in text and "<h1>03-heads\u00a0: bilan de la classe</h1>" in text
    for said in ("À reprendre en cours", "0 sur 1 ont tous les points.", "valeurs justes", "<h2>Non exécuté</h2>",
                 "sur un appareil CUDA, dans 1 verdicts\u00a0: cette machine n'a pas d'appareil CUDA",
                 '<h2 id="Idées-fausses">Idées fausses</h2>'):  # fmt: skip
        assert said in unescape(text)
    for word in ("Students", "Exercise", "full marks", "Checks", "Shares", "Misconception", "Passed"):
        assert word not in text


def test_what_was_not_run_is_counted():
    lacking = CheckResult(name="on a <card>", status="not_run", message="this machine has no CUDA device", weight=0.0)
    seen = CheckResult(name="right values", status="passed")
    one = Verdict(exercise="a.b", status="passed", score=1, max_score=1, checks=(seen, lacking)).as_json()
    text = report("03-heads", [{"a.b": one}, {"a.b": one}])
    assert (
        "<li>on a &lt;card&gt;, in 2 verdicts: this machine has no CUDA device</li>" in text
        and "right values" not in text.partition("<h2>Not run</h2>")[2]
    )
    assert "Not run" not in report("03-heads", [{"a.b": {**one, "checks": [seen.__dict__]}}])


@pytest.mark.parametrize(("name", "word"), [("99-none", "no graded notebook of '99-none'"), ("03-heads", "exists")])
def test_what_cannot_be_done_is_said_in_a_line(course, tmp_path, capsys, name, word):
    if word == "exists":
        (tmp_path / "there").touch()
    with pytest.raises(SystemExit) as end:
        main(["report", str(course), name, "-o", str(tmp_path / "there")])
    said = capsys.readouterr().err
    assert end.value.code == 2
    assert word in said
    assert said.count("\n") == 1


def checked(exercise, *passed, most=2.0):
    """A verdict with a check for each outcome, which share its points evenly; None: that check could not be run."""
    status = {True: "passed", False: "failed", None: "not_run"}
    part = most / max(1, sum(one is not None for one in passed))
    checks = tuple(
        CheckResult(name=f"check {at}", status=status[one], points=part * bool(one), of=part * (one is not None))
        for at, one in enumerate(passed)
    )
    score = sum(check.points for check in checks)
    state = "passed" if score == most else "failed"
    return Verdict(exercise=exercise, status=state, score=score, max_score=most, checks=checks).as_json()


def test_a_check_is_told_by_who_passes_it_and_by_whether_it_separates():
    weak = {"a": checked("a", True, False, None), "b": checked("b", False, most=1)}
    odd = {"a": checked("a", False, False, None), "b": checked("b", True, most=1)}
    strong = {"a": checked("a", True, True, None), "b": checked("b", True, most=1)}
    lost = {"a": Verdict(exercise="a", status="not_graded", score=0, max_score=2).as_json()}
    everyone, one, other = check_items([weak, odd, strong, strong, lost])
    assert [(item.exercise, item.name, item.passed, item.failed) for item in (everyone, one, other)] == [
        ("a", "check 0", 3, 1), ("a", "check 1", 2, 2), ("b", "check 0", 3, 1),
    ]  # fmt: skip
    assert (one.earned, one.of) == (0.5, 1.0)
    # all else of 2 points: weak 1, odd 1, strong 2 and 2; those who pass have all of it, the others half
    assert one.discrimination == pytest.approx(1)
    assert everyone.discrimination < one.discrimination
    assert [row[:2] for row in table_rows([one])] == [["exercise", "check"], ["a", "check 1"]]
    page = report("03-heads", [weak, odd, strong])
    assert '<h2 id="Checks">' in page and "<td>1 of 3</td><td>0.33 of 1.00</td>" in page


def test_two_checks_of_one_name_are_two_items():
    """An exercise with two functions has a check of the shapes of each."""
    verdict = checked("a", True, False)
    for check in verdict["checks"]:
        check["name"] = "shapes"
    first, second = check_items([{"a": verdict}, {"a": verdict}])
    assert (first.name, first.passed, first.failed) == ("shapes", 2, 0)
    assert (second.name, second.passed, second.failed) == ("shapes (2)", 0, 2)


def test_what_the_lab_asks_is_plain_json(course):
    found = service.item_analysis(course, "03-heads")
    assert found == {"checks": [], "attempts": []}  # verdicts without checks, and no attempts were recorded
    files = service.class_files(course, "03-heads")
    assert files["html"].startswith("<!doctype html>") and files["csv"].startswith("exercise,check,")
    assert service.attempts_of(course, "03-heads", "s0") == []
