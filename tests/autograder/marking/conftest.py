"""A course with graded answers of three students, as nbgrader's commands leave it."""

import shutil

import nbformat
import pytest
from nbgrader.api import Gradebook

from autograder.cluster.course import settings_of
from autograder.nbgrader import config

from .graded import ASKED, CODE, SCHEME, TASK, TEXTS, UNIT


def cell(kind, source, name=None, **tfkit):
    made = (nbformat.v4.new_code_cell if kind == "code" else nbformat.v4.new_markdown_cell)(source)
    made.metadata = {"nbgrader": {"grade_id": name}} if name else {}
    made.metadata |= {"tfkit": tfkit} if tfkit else {}
    return made


def notebook(answer, code, status, misconception, text=ASKED, scheme=""):
    verdict = {
        "exercise": "masks.causal",
        "status": status,
        "misconception": misconception,
        "reason": None,
        "hint": None,
    }
    cells = [
        cell("code", code, "solution-masks-causal"),
        cell("code", "check()", "check-masks-causal", role="check", verdict=verdict),
        cell("markdown", f"## Why?\n\nSay why.{scheme}", "task-why", role="task"),
        cell("markdown", answer or text),
        cell("markdown", "## Reading"),
    ]
    return nbformat.v4.new_notebook(cells=cells)


@pytest.fixture(name="root")
def copy_of_course(marked_course, tmp_path):
    return shutil.copytree(marked_course, tmp_path / "course")


@pytest.fixture(scope="session")
def marked_course(tmp_path_factory):
    tmp_path = tmp_path_factory.mktemp("course")
    config.install(tmp_path)
    settings_of(tmp_path)  # puts alembic, which a new gradebook calls, on the path
    source = tmp_path / "source" / UNIT / f"{UNIT}.ipynb"
    source.parent.mkdir(parents=True)
    marks = f"\n\n### BEGIN MARK SCHEME\n{SCHEME}\n### END MARK SCHEME"
    nbformat.write(notebook("", "def causal_mask(n): ...", "passed", None, scheme=marks), source)
    with Gradebook(f"sqlite:///{tmp_path / 'gradebook.db'}", "tfkit") as gradebook:
        gradebook.add_assignment(UNIT)
        gradebook.add_notebook(UNIT, UNIT)
        gradebook.add_grade_cell(CODE.cell, UNIT, UNIT, max_score=2, cell_type="code")
        gradebook.add_solution_cell("solution-masks-causal", UNIT, UNIT)
        gradebook.add_task_cell(TASK.cell, UNIT, UNIT, max_score=2, cell_type="markdown")
        for student, text in TEXTS.items():
            gradebook.add_student(student)
            gradebook.add_submission(UNIT, student)
            grade = gradebook.find_grade(CODE.cell, UNIT, UNIT, student)
            grade.auto_score = 0.0 if student == "chen" else 2.0
            grade.needs_manual_grade = False
            gradebook.find_grade(TASK.cell, UNIT, UNIT, student).needs_manual_grade = True
            path = tmp_path / "autograded" / student / UNIT / f"{UNIT}.ipynb"
            path.parent.mkdir(parents=True)
            wrong = ("failed", "no_diagonal") if student == "chen" else ("passed", None)
            nbformat.write(notebook(text, f"def causal_mask(n):\n    return {student}", *wrong), path)
        gradebook.db.commit()
    return tmp_path
