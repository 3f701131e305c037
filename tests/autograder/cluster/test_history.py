"""Every attempt is kept and shown; the class report counts how many it took."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from autograder.cli import main
from autograder.cluster import history
from autograder.cluster.bundle import Key
from autograder.cluster.job import Record
from autograder.cluster.records import Records
from autograder.report import page
from autograder.report.attempts import greens

UNIT = "03-heads"


def record(student, submission, first, second):
    """One of two exercises, worth two points each."""
    verdicts = [
        {"exercise": name, "score": score, "max_score": 2.0, "status": "passed" if score == 2 else "failed"}
        for name, score in (("a.split", first), ("a.multi", second))
    ]
    return Record(Key(student, UNIT, submission, "checks"), {}, verdicts, 1.0, "here:1")


@pytest.fixture
def course(tmp_path):
    """Ada needs two attempts, Ben one, Chen is not there yet; then a regrade, which is not agreed to."""
    rounds = [
        [record("ada", "s1", 2.0, 0.0), record("ben", "s1", 2.0, 2.0), record("chen", "s1", 0.0, 0.0)],
        [record("ada", "s2", 2.0, 2.0), record("chen", "s2", 2.0, 1.0)],
    ]
    with Records(tmp_path) as records:
        for one in rounds:
            round = records.begin(UNIT, regrade=False)
            for each in one:
                records.add(round, each)
                records.committed(round, each.key)
            records.end(round, "committed")
        round = records.begin(UNIT, regrade=True)
        records.add(round, record("ada", "s2", 0.0, 2.0))
        records.end(round, "discarded")
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


def run(capsys, *arguments):
    with pytest.raises(SystemExit) as end:
        main(["history", *map(str, arguments)])
    captured = capsys.readouterr()
    return end.value.code, captured.out + captured.err


def test_the_command_shows_what_changed(course, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "140")
    status, said = run(capsys, course, UNIT, "ada", "chen")
    assert status == 0 and "ben" not in said
    rows = [line for line in said.splitlines() if "ada" in line]
    assert ["0 → 2" in row for row in rows] == [False, True, False]
    assert "2, regraded" in rows[2] and "2 → 0" in rows[2] and "discarded" in rows[2]
    status, said = run(capsys, course, UNIT, "dora")
    assert status == 2 and "no attempt of dora at 03-heads is kept" in said and said.count("\n") == 1
    (course / "records.db").write_text("not a database, whatever its name says")
    status, said = run(capsys, course, UNIT)
    assert status == 2 and "cannot be read" in said and said.count("\n") == 1


def attempt(student, number, hours, *scores):
    at = datetime(2026, 3, 1, tzinfo=UTC) + timedelta(hours=hours)
    return history.Attempt(student, number, False, at, record(student, "s", *scores).verdicts, "")


def test_the_report_counts_attempts_and_time_to_green():
    split, multi = greens(
        [
            *(attempt("ada", 1, 0, 2, 0), attempt("ada", 2, 6, 2, 0), attempt("ada", 3, 24, 2, 2)),
            *(attempt("ben", 1, 1, 2, 2), attempt("chen", 1, 2, 0, 0), attempt("chen", 2, 4, 0, 2)),
        ]
    )
    assert (split.students, split.at_once, split.attempts, split.median_hours) == (3, 2, [1, 1], None)
    assert (multi.at_once, sorted(multi.attempts), multi.median_attempts, multi.median_hours) == (1, [1, 2, 3], 2, 13)
    verdicts = {verdict["exercise"]: verdict | {"misconception": None, "hint": None, "checks": ()}
                for verdict in attempt("x", 1, 0, 2, 2).verdicts}  # fmt: skip
    text = page.page(UNIT, [verdicts], [split, multi])
    assert "Attempts</h2>" in text
    assert "a.multi</th><td>3</td><td>1</td><td>2</td><td>0</td><td>2</td><td>13.0 h</td>" in text
    assert "a.split</th><td>3</td><td>2</td><td>0</td><td>1</td><td>1</td><td>–</td>" in text
    assert "Attempts</h2>" not in page.page(UNIT, [verdicts])


def test_who_handed_in_once_tells_nothing():
    assert greens([attempt("ada", 1, 0, 2, 2), attempt("ben", 1, 0, 0, 0)]) == []
