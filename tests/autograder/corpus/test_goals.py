"""The rows of goals below `autograder corpus --report`."""

import re

import pytest

from autograder.cli import main
from autograder.corpus.diagnosis import DiagnosisReport
from autograder.corpus.goals import Goal, goals
from autograder.corpus.judge import Score
from autograder.corpus.lines import Lines


def measured(**changed):
    """The goals of a report in which all of them are just met, with these counts changed."""
    score = Score("all", right=10, wrong=100, named=95, rewritten=10, unexplained=1)
    diagnosis = DiagnosisReport("all", pairs=100, both_named=70, one_named=95, held=10, held_kinds=10)
    lines = Lines(edits=10, near=9)
    for key, value in changed.items():
        setattr(next(one for one in (score, diagnosis, lines) if hasattr(one, key)), key, value)
    return goals(score, lines, diagnosis)


def test_all_goals_are_met_at_their_bounds():
    assert [goal.met for goal in measured()] == [True] * 6


@pytest.mark.parametrize(
    ("place", "changed"),
    [
        (0, {"named": 94}),
        (1, {"both_named": 69}),
        (2, {"one_named": 94}),
        (3, {"near": 8}),
        (4, {"false_alarms": 1}),
        (5, {"unexplained": 2}),
        (5, {"held_kinds": 9}),
    ],
)
def test_each_count_misses_its_own_goal(place, changed):
    found = measured(**changed)
    assert [n for n, goal in enumerate(found) if not goal.met] == [place] and "MISSED" in found[place].line


def test_nothing_measured_is_no_goal_met():
    nothing = Goal("what", 0, 0, 0, at_most=True)
    assert nothing.met is None and "not measured" in nothing.line


@pytest.mark.parametrize(
    ("hits", "total", "bound", "at_most", "met"),
    [
        (1, 2, 95, False, None), (2, 2, 95, False, True), (18, 19, 95, False, None), (18, 20, 95, False, False),
        (1, 3, 70, False, None), (1, 4, 70, False, False), (1, 2, 5, True, None), (2, 20, 5, True, False),
        (0, 1, 0, True, True), (1, 1, 0, True, False),
    ],
)  # fmt: skip
def test_a_goal_for_a_collection_is_not_missed_by_one_answer_of_a_small_unit(hits, total, bound, at_most, met):
    goal = Goal("what", hits, total, bound, at_most)
    assert goal.met is met
    assert ("too few to tell" in goal.line, "MISSED" in goal.line) == (met is None, met is False)


@pytest.mark.nightly
def test_the_report_ends_with_the_goals_by_any_number_of_workers(capsys):
    said = []
    for workers in ("1", "2"):
        with pytest.raises(SystemExit) as end:
            main(["corpus", "masks.causal", "--report", "--workers", workers])
        assert end.value.code == 0
        said.append(capsys.readouterr().out)
    assert said[0] == said[1]
    rows = said[0].partition("\ngoals\n")[2].splitlines()
    assert len(rows) == 6
    counts = {row.split("  ")[1]: re.search(r"(\d+) of +(\d+)", row) for row in rows}
    alarms = counts["right answers with a failed check"]
    assert alarms[1] == "0" and int(alarms[2]) >= 2 and rows[4].endswith("met")
