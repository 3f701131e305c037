"""`autograder status` counts what is there, in a screen of 80 columns."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from autograder import cli
from autograder.cluster.bundle import Key
from autograder.cluster.job import GradingRecord
from autograder.cluster.records import Records
from autograder.maintenance import overview
from autograder.marking.store import MarkingStore, NewRequest
from autograder.serve import lock

from ..marking.graded import TASK, UNIT


@pytest.fixture
def course(root: Path) -> Path:
    """Ada is graded, Ben handed in again, Dan is new; a run stopped, and a request waits."""
    for student, when in (("ada", "10:00"), ("ben", "12:00"), ("dan", "10:00")):
        handed_in = root / "submitted" / student / UNIT
        handed_in.mkdir(parents=True)
        (handed_in / "timestamp.txt").write_text(when, encoding="utf-8")
    for student in ("ada", "ben"):
        (root / "autograded" / student / UNIT / "timestamp.txt").write_text("10:00", encoding="utf-8")
    with Records(root) as records:
        records.end_round(records.begin_round(UNIT, regrade=False), "committed")
        round = records.begin_round(UNIT, regrade=False)
        records.add(round, GradingRecord(Key("ada", UNIT, "s" * 64, "c" * 64), {UNIT: "{}"}, [], 2.0, "here:1"))
        records.add_verification(UNIT, 40, 39)
    with MarkingStore(root) as marks:
        marks.add_request(NewRequest(TASK, "ada", "Why?", "ada", "ada+file", "2026-11-01"))
    return root


def shown(course: Path, capsys: pytest.CaptureFixture[str], *words: str) -> str:
    with pytest.raises(SystemExit) as ended:
        cli.main(["status", str(course), *words])
    assert ended.value.code == 0
    return capsys.readouterr().out


def test_a_class_in_one_screen(course: Path, capsys: pytest.CaptureFixture[str], monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    lines = shown(course, capsys).splitlines()
    assert lines[0] == "tfkit: 3 students, 1 assignment; autograder serve is not running"
    (row,) = (line.split() for line in lines if line.startswith(UNIT))
    assert row[1:5] == ["3", "3", "2", "3"] and "stopped" in " ".join(lines)
    assert lines[-3:] == ["1 regrade request waits: `autograder requests` lists them",
                          "graded again: 39 of 40 verdicts equal", f"to do: autograder grade for {UNIT}"]  # fmt: skip
    assert len(lines) < 24 and max(map(len, lines)) <= 80


def test_the_same_as_json(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = json.loads(shown(course, capsys, "--json"))
    (one,) = found["assignments"]
    assert (one["submitted"], one["graded"], one["to_grade"], one["by_hand"], one["stopped"]) == (3, 3, 2, 3, True)
    assert (found["unequal"], found["open_requests"], found["serving"]) == (1, 1, False)


def test_it_says_whether_somebody_serves_the_course(course: Path) -> None:
    assert not lock.is_held(course)
    code = (
        "import sys, pathlib; from autograder.serve import lock; "
        "lock.acquire(pathlib.Path(sys.argv[1])); print(flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(course)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None and other.stdout.readline() == b"\n"
        assert lock.is_held(course) and overview.read(course).serving
        other.kill()
    assert not lock.is_held(course)  # however the service ended


def test_a_new_course_has_nothing_to_show(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("gradebook.db", "records.db", "marking.db"):
        (course / name).unlink()
    shutil.rmtree(course / "submitted")
    assert "0 students, 0 assignments" in shown(course, capsys)
