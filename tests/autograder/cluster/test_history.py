"""Every attempt is kept and shown; the class report counts how many it took."""

from __future__ import annotations

import io
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from rich.console import Console

from autograder.cli import main
from autograder.cluster import history
from autograder.cluster.bundle import Key
from autograder.cluster.job import GradingRecord
from autograder.cluster.records import Records
from autograder.cluster.scores import Question, Scores, StudentScores
from autograder.report import page
from autograder.report.attempts import full_marks

UNIT = "03-heads"


def record(student, submission, first, second):
    """One of two exercises, worth two points each."""
    verdicts = [
        {"exercise": name, "score": score, "max_score": 2.0, "status": "passed" if score == 2 else "failed"}
        for name, score in (("a.split", first), ("a.multi", second))
    ]
    return GradingRecord(Key(student, UNIT, submission, "checks"), {}, verdicts, 1.0, "here:1")


@pytest.fixture
def course(tmp_path):
    """Ada needs two attempts, Ben one, Chen is not there yet; then a regrade, which is not agreed to."""
    rounds = [
        [record("ada", "s1", 2.0, 0.0), record("ben", "s1", 2.0, 2.0), record("chen", "s1", 0.0, 0.0)],
        [record("ada", "s2", 2.0, 2.0), record("chen", "s2", 2.0, 1.0)],
    ]
    with Records(tmp_path) as records:
        for one in rounds:
            round = records.begin_round(UNIT, regrade=False)
            for each in one:
                records.add(round, each)
                records.mark_committed(round, each.key)
            records.end_round(round, "committed")
        round = records.begin_round(UNIT, regrade=True)
        records.add(round, record("ada", "s2", 0.0, 2.0))
        records.end_round(round, "discarded")
    return tmp_path


def test_attempts_are_numbered_by_what_was_handed_in(course):
    found = [(one.student, one.number, one.regrade, one.score, one.state) for one in history.read(course, UNIT)]
    assert found == [
        ("ada", 1, False, 2.0, ""),
        ("ada", 2, False, 4.0, ""),
        ("ada", 2, True, 2.0, "discarded"),
        ("ben", 1, False, 4.0, ""),
        ("chen", 1, False, 0.0, ""),
        ("chen", 2, False, 3.0, ""),
    ]
    assert history.read(course, "04-none") == []


def test_attempts_keep_their_order_where_the_clock_is_set_back(tmp_path, monkeypatch):
    times = iter([f"2026-10-{day:02}T10:00:00+00:00" for day in range(30, 0, -1)])
    monkeypatch.setattr("autograder.cluster.records._now", lambda: next(times))
    with Records(tmp_path) as records:
        for submission, points in (("s1", 0.0), ("s2", 2.0)):
            round = records.begin_round(UNIT, regrade=False)
            records.add(round, one := record("ada", submission, points, points))
            records.mark_committed(round, one.key)
            records.end_round(round, "committed")
        assert records.current_keys(UNIT)["ada"].submission == "s2"  # the last grade counts, whatever its time
        assert records.feedback_due(UNIT) == {"ada": 2} and records.open_round(UNIT) is None
    assert [(one.number, one.score) for one in history.read(tmp_path, UNIT)] == [(1, 0.0), (2, 4.0)]


def run(capsys, *arguments):
    with pytest.raises(SystemExit) as end:
        main(["history", *map(str, arguments)])
    captured = capsys.readouterr()
    return end.value.code, captured.out + captured.err


def test_the_command_shows_what_changed(course, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    status, said = run(capsys, course, UNIT, "ada", "chen")
    assert status == 0 and "ben" not in said
    rows = [line for line in said.splitlines() if "ada" in line]
    assert ["0 → 2" in row for row in rows] == [False, True, False]
    assert "2, regraded" in rows[2] and "discarded" in rows[2] and "a.split 2 → 0" in said
    assert "a.multi 0/2" in rows[0] and "4/4" in rows[1]
    status, said = run(capsys, course, UNIT, "dora")
    assert status == 2 and "no attempt of dora at 03-heads is stored" in said and said.count("\n") == 1
    (course / "records.db").write_text("not a database, whatever its name says")
    status, said = run(capsys, course, UNIT)
    assert status == 2 and "cannot be read" in said and said.count("\n") == 1


def test_many_exercises_fit_eighty_columns_and_the_gradebook_has_the_last_word():
    names = [f"positions.exercise_{n}" for n in range(8)]
    marks = lambda scores: [{"exercise": name, "score": got, "max_score": 1.0, "status": "failed"}
                            for name, got in zip(names, scores, strict=True)]  # fmt: skip
    at = datetime(2026, 3, 1, tzinfo=UTC)
    attempts = [history.AttemptRecord("bartholomew", 1, False, at, marks([0] * 8), ""),
                history.AttemptRecord("bartholomew", 2, False, at, marks([1] * 7 + [0.5]), "")]  # fmt: skip
    who = {"first_name": "", "last_name": "", "email": "", "submitted": ""}
    row = StudentScores("bartholomew", points=[7.5, 2.0], penalty=1.5, by_hand=2.0, **who)
    questions = [Question("unit", "checks", "checks", 8.0), Question("unit", "words", "words", 2.0)]
    now = history.totals(Scores(UNIT, questions, [row], []))
    console = Console(width=80, file=io.StringIO())
    console.print(history.table(UNIT, attempts, now))
    said = console.file.getvalue().splitlines()
    assert all(f"{name} 0/1" in "\n".join(said) for name in names) and len(said) < 25
    assert any("positions.exercise_7 0 → 0.5" in line for line in said)
    assert any("gradebook" in line and "8/10" in line for line in said)
    assert " ".join("\n".join(said).split()).endswith("7.5 by the checks, 2 by hand, less 1.5 for late submission")


def attempt(student, number, hours, *scores):
    at = datetime(2026, 3, 1, tzinfo=UTC) + timedelta(hours=hours)
    return history.AttemptRecord(student, number, False, at, record(student, "s", *scores).verdicts, "")


def test_the_report_counts_attempts_and_time_to_green():
    split, multi = full_marks(
        [
            *(attempt("ada", 1, 0, 2, 0), attempt("ada", 2, 6, 2, 0), attempt("ada", 3, 24, 2, 2)),
            *(attempt("ben", 1, 1, 2, 2), attempt("chen", 1, 2, 0, 0), attempt("chen", 2, 4, 0, 2)),
        ]
    )
    assert (split.students, split.first_attempt, split.attempts, split.median_hours) == (3, 2, [1, 1], None)
    assert (multi.first_attempt, sorted(multi.attempts), multi.median_attempts, multi.median_hours) == (
        1,
        [1, 2, 3],
        2,
        13,
    )
    verdicts = {verdict["exercise"]: verdict | {"misconception": None, "hint": None, "checks": ()}
                for verdict in attempt("x", 1, 0, 2, 2).verdicts}  # fmt: skip
    text = page.page(UNIT, [verdicts], [split, multi])
    assert "Attempts</h2>" in text
    assert "a.multi</th><td>3</td><td>1</td><td>2</td><td>0</td><td>2</td><td>13.0 h</td>" in text
    assert "a.split</th><td>3</td><td>2</td><td>0</td><td>1</td><td>1</td><td>–</td>" in text
    assert "Attempts</h2>" not in page.page(UNIT, [verdicts])


def test_the_report_counts_every_second_grading_and_names_the_days_of_differences(tmp_path):
    """A later one, of fewer submissions, does not hide what an earlier one found; one of nothing is left out."""
    with Records(tmp_path) as records:
        for verdicts, equal in ((400, 395), (0, 0), (20, 20)):
            records.add_verification(UNIT, verdicts, equal)
        records.add_verification("04-other", 3, 0)
    first, last = found = history.verifications(tmp_path, UNIT)
    assert [(one.verdicts, one.equal) for one in found] == [(400, 395), (20, 20)] and first.at < last.at
    days = [datetime(2026, 3, day, 12, tzinfo=UTC) for day in (1, 5)]
    dated = [replace(one, at=at) for one, at in zip(found, days, strict=True)]
    words = (
        "415 of 420 verdicts were equal when graded again (2026-03-01 to 2026-03-05). 5 of 400 differed on 2026-03-01."
    )
    assert words in page.page(UNIT, [], verified=dated)
    assert "20 of 20 verdicts were equal when graded again (2026-03-05).</p>" in page.page(UNIT, [], verified=dated[1:])


def test_who_handed_in_once_tells_nothing():
    assert full_marks([attempt("ada", 1, 0, 2, 2), attempt("ben", 1, 0, 0, 0)]) == []
