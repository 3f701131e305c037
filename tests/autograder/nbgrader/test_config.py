"""What a course directory holds of secrets and of students cannot be committed by accident."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import autograder
from autograder.api import Limits
from autograder.cluster.course import settings_of
from autograder.nbgrader import config
from autograder.nbgrader.execute import BoxedExecute
from autograder.nbgrader.late import LatePolicy

LATE = {
    "penalty_per_day": 0.1,
    "max_penalty": 0.5,
    "closed_days": 14,
    "grace_minutes": 15,
    "extensions": {"03-heads": {"ada": 48}},
}
BOX = {
    "sandbox": "bubblewrap",
    "limits": {name: getattr(Limits(), name) for name in config.LIMITED},
}


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


def test_the_examples_in_the_shipped_configuration_are_settings(tmp_path):
    config.install(tmp_path)
    path = tmp_path / config.CONFIG
    text, found = re.subn(r"^# (c\.)", r"\1", path.read_text(), flags=re.M)
    assert found == len(LATE) + len(BOX)
    path.write_text(text)
    settings = settings_of(tmp_path).config
    assert settings.LatePolicy == LATE and {name: settings.BoxedExecute[name] for name in BOX} == BOX
    for kind, examples in ((LatePolicy, LATE), (BoxedExecute, BOX)):
        made = kind(config=settings)
        assert {name: getattr(made, name) for name in examples} == examples
        assert set(examples) <= set(kind.class_trait_names(config=True))
    assert BoxedExecute.limits._per_key_traits.keys() == set(config.LIMITED)


def test_the_handbook_shows_the_same_late_policy():
    shipped, handbook = Path(config.__file__).with_name(config.CONFIG), Path(__file__).parents[3] / "docs/teaching.md"
    lines = re.findall(r"^# (c\.LatePolicy\..*)$", shipped.read_text(), flags=re.M)
    assert len(lines) == len(LATE) and "\n".join(["```python", *lines, "```"]) in handbook.read_text()


def test_the_configuration_of_a_course_that_exists_finds_its_modules(tmp_path):
    """It is a copy, which a new version does not change: what it imports keeps its name."""
    names = "misconceptions, points, stored_mutants"
    code = (
        f"from autograder import {names}; from pathlib import Path; here = Path('.');"
        "print(points.setting(here / points.FILE), misconceptions.setting(here / misconceptions.FILE), "
        "stored_mutants.setting(here / 'corpus'))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, cwd=tmp_path)
    assert done.stdout == "{} {} {}\n", done.stderr
    with pytest.raises(AttributeError, match="module 'autograder' has no attribute 'absent'"):
        _ = autograder.absent
