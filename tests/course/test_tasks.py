"""A question for a person goes through nbgrader's commands: asked, answered, left ungraded, marked, given back."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbgrader.api import Gradebook
from nbgrader.apps import NbGraderAPI
from traitlets.config import Config

from autograder.nbgrader import config
from course import build as builder
from course.mock_class import STUDENTS, hand_in
from course.notebook import ANSWER

UNIT, STUDENT, TASK = "02-masks", "ada", "task-too-good-a-loss"
CODE = 5.0


class Course:
    """A course of one unit, one student, who answers everything."""

    def __init__(self, root: Path) -> None:
        self.root = root
        config.install(root)
        builder.build(root, [UNIT])
        self.nbgrader("generate_assignment")
        (student,) = [student for student in STUDENTS if student.name == STUDENT]
        path = hand_in(student, UNIT, root / "release", root / "submitted" / STUDENT)
        nb = nbformat.read(path, as_version=4)
        (answer,) = [cell for cell in nb.cells if cell.source == ANSWER]
        answer.source = "It has seen the future."
        nbformat.write(nb, path)
        self.nbgrader("autograde")

    def nbgrader(self, command: str, *more: str) -> None:
        """The stock command, in a process of its own."""
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        call = [sys.executable, "-m", "nbgrader", command, UNIT, *more]
        env = os.environ | {"PATH": path, "OMP_NUM_THREADS": "1"}
        done = subprocess.run(call, cwd=self.root, env=env, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr

    def text(self, folder: str, ending: str = "ipynb") -> str:
        """The student's file in one of nbgrader's folders."""
        return (self.root / folder / STUDENT / UNIT / f"{UNIT}.{ending}").read_text(encoding="utf-8")

    def gradebook(self) -> Gradebook:
        """nbgrader's own."""
        return Gradebook(f"sqlite:///{self.root / 'gradebook.db'}", "tfkit")

    def formgrader(self) -> dict:
        """What the formgrader lists of the submission."""
        settings = Config()
        settings.CourseDirectory = Config(
            course_id="tfkit", root=str(self.root), db_url=f"sqlite:///{self.root / 'gradebook.db'}"
        )
        return NbGraderAPI(config=settings).get_submission(UNIT, STUDENT)


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    return Course(tmp_path_factory.mktemp("course"))


def test_the_question_waits_for_a_person_and_the_code_does_not(graded):
    with graded.gradebook() as gradebook:
        submission = gradebook.find_submission(UNIT, STUDENT)
        waiting = [grade.name for grade in submission.notebooks[0].grades if grade.needs_manual_grade]
        assert waiting == [TASK]
        assert gradebook.find_grade(TASK, UNIT, UNIT, STUDENT).auto_score is None
    listed = graded.formgrader()
    assert listed["needs_manual_grade"] is True
    assert (listed["code_score"], listed["max_code_score"]) == (CODE, CODE)
    assert (listed["task_score"], listed["max_task_score"]) == (0, 2)


def test_the_mark_scheme_is_for_the_marker_alone(graded):
    released = (graded.root / "release" / UNIT / f"{UNIT}.ipynb").read_text(encoding="utf-8")
    assert "In your own words" in released and "MARK SCHEME" not in released and "overfitting" not in released
    assert "It has seen the future." in graded.text("autograded") and "overfitting" in graded.text("autograded")


def test_marks_of_a_person_count_and_outlive_a_regrade(graded):
    with graded.gradebook() as gradebook:
        grade = gradebook.find_grade(TASK, UNIT, UNIT, STUDENT)
        grade.manual_score, grade.needs_manual_grade = 1.5, False
        gradebook.db.commit()
    assert graded.formgrader()["needs_manual_grade"] is False and graded.formgrader()["score"] == CODE + 1.5
    graded.nbgrader("generate_feedback")
    page = graded.text("feedback", "html")
    assert "It has seen the future." in page and "In your own words" in page
    assert "MARK SCHEME" not in page and "overfitting" not in page
    graded.nbgrader("autograde", "--force")
    assert graded.formgrader()["score"] == CODE + 1.5
