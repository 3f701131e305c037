"""The checks as tests: on a right file, a wrong one, one that is no Python; pytest itself never imports them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.exercises import registry
from autograder.exercises.answers import answer, answers

ID = "attention.split_heads"
OWN = ["-p", "autograder.checking.pytest_plugin"] if not any(
    point.name == "tfkit" for point in __import__("importlib.metadata").metadata.entry_points(group="pytest11")
) else []  # fmt: skip


def run(folder: Path, *arguments: str):
    """pytest in the folder; status and what it printed."""
    call = [sys.executable, "-m", "pytest", *OWN, "-v", "-p", "no:cacheprovider", *arguments]
    done = subprocess.run(call, cwd=folder, env=os.environ, capture_output=True, text=True, timeout=500)
    return done.returncode, done.stdout + done.stderr


@pytest.fixture(scope="module")
def said(tmp_path_factory):
    """One run over three files."""
    folder = tmp_path_factory.mktemp("students")
    right = answers(registry.find(ID), "right")[0].read_text()
    note = f"\nopen({str(folder / 'imported')!r}, 'a').write(__name__)\n"
    (folder / "right.py").write_text(right)
    (folder / "wrong.py").write_text(answer(registry.find(ID), "heads_not_moved_forward").read_text())
    (folder / "broken.py").write_text("def split_heads(:")
    (folder / "writes.py").write_text(right + note)
    return folder, *run(folder, "--tfkit-exercise", ID, "right.py", "wrong.py", "broken.py", "writes.py")


def test_each_check_is_a_test(said):
    _, code, text = said
    assert code == 1
    names = [check.name for check in registry.check_function(registry.find(ID))()]
    assert len(set(names)) == len(names)
    assert all(f"right.py::{name} PASSED" in text for name in names)
    assert "wrong.py::" in text and " FAILED" in text


def test_a_failure_says_what_the_check_says(said):
    _, _, text = said
    assert "syntax error" in text and "pytest_plugin.py" not in text.partition("FAILURES")[2]


def test_the_file_is_not_imported_by_pytest(said):
    folder, _, _ = said
    assert not (folder / "imported").exists()


def test_an_unknown_exercise_is_said_in_a_line(tmp_path):
    (tmp_path / "student.py").write_text("")
    code, text = run(tmp_path, "--tfkit-exercise", "attention.split_head", "student.py")
    assert code == 4 and "did you mean attention.split_heads?" in text
