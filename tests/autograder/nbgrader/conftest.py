"""A course of one small unit, graded by the real nbgrader commands with an engine that only reads words."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from autograder.cluster import course as cluster
from autograder.cluster.job import GradingRecord, grade
from autograder.nbgrader import config
from course import build as builder

HERE = Path(__file__).parent
UNIT = "02-masks"
IDS = ("masks.causal", "masks.padding", "masks.softmax")
POINTS = 2.0
COUNTING = '[[unit]]\nname = "02-masks"\nexercises = ["masks.causal"]\npredictions = 2\nquestions = 2\n'


class Course:
    """A course directory and the commands run in it."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def nbgrader(self, *arguments: str, code: int = 0, **how: object) -> str:
        """Run the stock command; its output. `how` goes to Popen."""
        running = self.start(*arguments, **how)
        _, said = running.communicate()
        assert running.returncode == code, said
        return said

    def start(self, *arguments: str, **how: object) -> subprocess.Popen:
        """The stock command, running."""
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        before = [os.environ["PYTHONPATH"]] if os.environ.get("PYTHONPATH") else []
        env = os.environ | {"PATH": path, "PYTHONPATH": os.pathsep.join([str(HERE), *before]), "OMP_NUM_THREADS": "1"}
        return subprocess.Popen(
            [sys.executable, "-m", "nbgrader", *arguments], cwd=self.root, env=env, text=True,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, **how,
        )  # fmt: skip

    def hand_in(self, student: str, nb: nbformat.NotebookNode | str | bytes, name: str = UNIT) -> Path:
        """Put a notebook, or the text of a broken one, where `nbgrader collect` would."""
        path = self.root / "submitted" / student / UNIT / f"{name}.ipynb"
        path.parent.mkdir(parents=True)
        text = nb if isinstance(nb, (str, bytes)) else nbformat.writes(nb)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    def released(self) -> nbformat.NotebookNode:
        """A fresh copy of what students get, each answer right."""
        nb = nbformat.read(self.root / "release" / UNIT / f"{UNIT}.ipynb", as_version=4)
        for exercise in IDS:
            find(nb, f"solution-{exercise.replace('.', '-')}").source = "# right"
        return nb

    def graded(self, student: str) -> nbformat.NotebookNode:
        """The autograded notebook."""
        return nbformat.read(self.root / "autograded" / student / UNIT / f"{UNIT}.ipynb", as_version=4)

    def page(self, student: str) -> str:
        """The feedback page."""
        return (self.root / "feedback" / student / UNIT / f"{UNIT}.html").read_text(encoding="utf-8")

    def grades(self, student: str) -> dict[str, tuple[float, bool]]:
        """Exercise → (score, needs a person), from nbgrader's own gradebook."""
        from nbgrader.api import Gradebook

        with Gradebook(f"sqlite:///{self.root / 'gradebook.db'}", "tfkit") as gradebook:
            found = {}
            for exercise in IDS:
                grade = gradebook.find_grade("check-" + exercise.replace(".", "-"), UNIT, UNIT, student)
                found[exercise] = (grade.score, bool(grade.needs_manual_grade))
            return found


def find(nb: nbformat.NotebookNode, grade_id: str) -> nbformat.NotebookNode:
    """The first cell of that grade id."""
    return next(cell for cell in nb.cells if cell.metadata.get("nbgrader", {}).get("grade_id") == grade_id)


def marked(grade_id: str, **flags: object) -> dict:
    marks = {"grade": False, "solution": False, "locked": False, "task": False, "schema_version": 3}
    return marks | {"grade_id": grade_id} | flags


def source_notebook() -> nbformat.NotebookNode:
    """A setup cell, then per exercise an answer and its check, as the course's build writes them."""
    cells = [
        new_markdown_cell("# Masks: $a < b$", id="text-1"),
        new_code_cell("import torch", metadata={"nbgrader": marked("setup-1", locked=True)}, id="setup-1"),
        new_code_cell("plot()", metadata={"tfkit": {"role": "demo"}}, id="demo-1"),
    ]
    for exercise in IDS:
        tail = exercise.replace(".", "-")
        text = "def f():\n    ### BEGIN SOLUTION\n    return 1\n    ### END SOLUTION"
        check = marked(f"check-{tail}", grade=True, locked=True, points=POINTS)
        answer = marked(f"solution-{tail}", solution=True)
        cells.append(new_code_cell(text, id=f"solution-{tail}", metadata={"nbgrader": answer}))
        cells.append(new_code_cell(f'check("{exercise}")', id=f"check-{tail}", metadata={"nbgrader": check}))
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return new_notebook(cells=cells, metadata={"kernelspec": kernel})


@pytest.fixture(scope="session")
def counting(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a course, built and released, that gives points for predictions and for answers to questions."""
    root = tmp_path_factory.mktemp("counting")
    (root / "course.toml").write_text(COUNTING)
    config.install(root)
    with (root / config.CONFIG).open("a", encoding="utf-8") as file:
        file.write('\nc.BoxedExecute.engine = "fake_engine.grade_notebook"\n')
    builder.build(root)
    Course(root).nbgrader("generate_assignment", UNIT)
    return root


def points_in_cluster(course: Course, grade_id: str, monkeypatch: pytest.MonkeyPatch) -> dict[str, float]:
    """Student → the points of this cell that a worker of `autograder grade` gives, without a gradebook."""
    monkeypatch.syspath_prepend(str(HERE))
    monkeypatch.chdir(course.root)
    opened = cluster.Course(course.root, UNIT)
    records = [GradingRecord.from_bytes(grade(opened.bundle(one))) for one in opened.submissions()]
    return {
        record.key.student: verdict["score"]
        for record in records
        for verdict in record.verdicts
        if verdict["exercise"] == grade_id
    }


@pytest.fixture(scope="session")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a course that was released and has no submission yet."""
    root = tmp_path_factory.mktemp("released")
    config.install(root)
    with (root / config.CONFIG).open("a", encoding="utf-8") as file:
        file.write('\nc.BoxedExecute.engine = "fake_engine.grade_notebook"\n')
    source = root / "source" / UNIT / f"{UNIT}.ipynb"
    source.parent.mkdir(parents=True)
    source.write_text(json.dumps(source_notebook()), encoding="utf-8")
    Course(root).nbgrader("generate_assignment", UNIT)
    return root


@pytest.fixture(scope="session")
def course(released: Path, tmp_path_factory: pytest.TempPathFactory) -> Course:
    """The released course; each test hands in as students of its own names."""
    return Course(shutil.copytree(released, tmp_path_factory.mktemp("course") / "course"))


@pytest.fixture
def own_course(released: Path, tmp_path: Path) -> Course:
    """The released course, for one test alone."""
    return Course(shutil.copytree(released, tmp_path / "course"))
