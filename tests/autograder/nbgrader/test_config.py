"""What a course directory holds of secrets and of students cannot be committed by accident."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from autograder.nbgrader import config


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
@pytest.mark.parametrize("before", [None, "*.tmp", "course.key\n"])
def test_git_takes_neither_key_nor_marks_nor_work(tmp_path, before):
    course = tmp_path / "my-course"
    course.mkdir()
    if before is not None:
        (course / ".gitignore").write_text(before)
    assert course / ".gitignore" in config.install(course)
    assert config.install(course) == []
    private = ["gradebook.db", "gradebook.db-journal", "records.db", "lti.pem", "submitted/ada/02-masks/02-masks.ipynb",
               "exchange/tfkit/inbound/x", "autograded/ada/x", "feedback/ada/x"]  # fmt: skip
    for name in [*private, "source/02-masks/02-masks.ipynb"]:
        (course / name).parent.mkdir(parents=True, exist_ok=True)
        (course / name).touch()
    git = ["git", "-C", str(tmp_path)]
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "add", "-A"], check=True)
    staged = subprocess.run([*git, "ls-files"], check=True, capture_output=True, text=True).stdout.split()
    inside = [".gitignore", "nbgrader_config.py", "source/02-masks/02-masks.ipynb"]
    assert staged == [f"my-course/{name}" for name in inside]
    assert (course / ".gitignore").read_text().startswith(before or "#")
