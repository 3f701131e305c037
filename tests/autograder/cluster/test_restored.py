"""A course that comes out of a backup goes on grading: what is graded stays so, and new submissions are graded."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path

import pytest

from autograder.cluster import command, history
from autograder.maintenance.backup import backup, restore

from .conftest import UNIT, Class
from .test_verify import HerePool, hand_in, run


@pytest.fixture(autouse=True)
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    @contextmanager
    def local(*_: object):
        yield HerePool()

    monkeypatch.setattr("autograder.cluster.pool.local", local)


def test_a_restored_course_goes_on_grading(course: Class, tmp_path_factory: pytest.TempPathFactory) -> None:
    hand_in(course, ["ada"])
    hand_in(course, ["ben"], "# wrong")
    assert run(command.grade, command.Options(course.root, UNIT))[0] == 0
    place: Path = tmp_path_factory.mktemp("backup")
    backup(course.root, place / "course.zip")
    restore(place / "course.zip", place / "copy")
    copy = Class(place / "copy")
    code, lines = run(command.grade, command.Options(copy.root, UNIT))
    assert code == 0 and "all 2 submissions are graded already" in lines  # nothing is graded again
    before = {student: course.grades(student) for student in ("ada", "ben")}
    assert {student: copy.grades(student) for student in before} == before and before["ada"] != before["ben"]
    hand_in(copy, ["chen"])
    assert run(command.grade, command.Options(copy.root, UNIT))[0] == 0
    assert copy.grades("chen") == before["ada"] and len(history.read(copy.root, UNIT)) == 3
    assert len(history.read(course.root, UNIT)) == 2  # the first course is another one
