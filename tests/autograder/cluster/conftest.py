"""A course of one small unit, graded by `autograder grade` with an engine that only reads words."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.nbgrader import config

from ..nbgrader.conftest import HERE as FAKE
from ..nbgrader.conftest import IDS, UNIT, Course, find, source_notebook

HERE = Path(__file__).parent
ENV = {
    "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
    "PYTHONPATH": os.pathsep.join([str(HERE), str(FAKE), os.environ.get("PYTHONPATH", "")]),
    "OMP_NUM_THREADS": "1",
}


class Class(Course):
    """The course, and the command that grades it."""

    def nbgrader(self, *arguments: str, code: int = 0) -> str:
        """Run the stock command, with our engine too; its output."""
        words = [sys.executable, "-m", "nbgrader", *arguments]
        done = subprocess.run(words, cwd=self.root, env=os.environ | ENV, capture_output=True, text=True, timeout=1500)
        assert done.returncode == code, done.stderr
        return done.stderr

    def command(self, *arguments: str) -> list[str]:
        """The words of `autograder grade` for the unit."""
        return [sys.executable, "-m", "autograder", "grade", str(self.root), UNIT, *arguments]

    def grade(self, *arguments: str, code: int = 0) -> str:
        """Run the command; what it printed."""
        words = self.command(*arguments)
        done = subprocess.run(words, cwd=self.root, env=os.environ | ENV, capture_output=True, text=True, timeout=1500)
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout + done.stderr

    def start(self, log: Path, *arguments: str) -> subprocess.Popen[bytes]:
        """Start the command; it writes to `log`."""
        with log.open("wb") as file:
            words, env = self.command(*arguments), os.environ | ENV
            return subprocess.Popen(words, cwd=self.root, env=env, stdout=file, stderr=file)

    def answers(self, students: list[str], seconds: float) -> None:
        """All hand in right answers that take so long to grade."""
        for student in students:
            nb = self.released()
            find(nb, f"solution-{IDS[0].replace('.', '-')}").source = f"# right\n# sleep {seconds}\n# {student}"
            self.hand_in(student, nb)

    def records(self) -> list[str]:
        """The student of each record on disk."""
        if not (self.root / "records.db").exists():
            return []
        db = sqlite3.connect(f"file:{self.root / 'records.db'}?mode=ro", uri=True, timeout=30)
        try:
            return [row[0] for row in db.execute("select student from records")]
        except sqlite3.OperationalError:  # its tables are being made
            return []
        finally:
            db.close()


def make(root: Path) -> Class:
    """A released course in `root`, which nobody has handed in to."""
    config.install(root)
    with (root / config.CONFIG).open("a", encoding="utf-8") as file:
        file.write('\nc.BoxedExecute.engine = "slow_engine.grade_notebook"\n')
    source = root / "source" / UNIT / f"{UNIT}.ipynb"
    source.parent.mkdir(parents=True)
    source.write_text(json.dumps(source_notebook()), encoding="utf-8")
    made = Class(root)
    made.nbgrader("generate_assignment", UNIT)
    return made


@pytest.fixture(scope="session")
def released_class(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of such a course, which tests copy: to release it takes nbgrader six seconds of processor time."""
    return make(tmp_path_factory.mktemp("released-class")).root


@pytest.fixture
def course(released_class: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Class]:
    """A released course; the engine can be imported in this process too."""
    monkeypatch.syspath_prepend(str(FAKE))
    monkeypatch.syspath_prepend(str(HERE))
    monkeypatch.setenv("PATH", ENV["PATH"])  # nbgrader calls alembic
    made = Class(shutil.copytree(released_class, tmp_path, dirs_exist_ok=True))
    monkeypatch.chdir(made.root)  # where the engine leaves its notes
    yield made
