"""`python -m course.new` writes a package whose unit every command sees and whose answers hold, untouched."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from course import new

NAME, UNIT = "rotary_lab", "90-rotary-lab"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """The package's folder, and the environment of a process that has it installed."""
    tmp = tmp_path_factory.mktemp("new")
    folder = new.write(NAME, tmp)
    pip = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation", "--target"]
    subprocess.run([*pip, str(tmp / "site"), str(folder)], check=True, timeout=500)
    path = os.pathsep.join([str(tmp / "site"), os.environ["PYTHONPATH"]])
    return folder, {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1"}


def run(env: dict[str, str], *command: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    arguments = [sys.executable, "-m", *command]
    return subprocess.run(arguments, env=env, cwd=cwd, capture_output=True, text=True, timeout=500)


def test_its_own_tests_pass(made: tuple[Path, dict[str, str]]) -> None:
    """Its right answers pass, its wrong ones are named, no slip in its reference survives; its notebook is built."""
    folder, env = made
    done = run(env, "pytest", "-q", "-p", "no:cacheprovider", "tests", cwd=folder)
    assert done.returncode == 0 and "2 passed" in done.stdout, done.stdout


def test_the_course_sees_the_unit(made: tuple[Path, dict[str, str]], tmp_path: Path) -> None:
    _, env = made
    (tmp_path / "course.toml").write_text(f'[[unit]]\nname = "02-masks"\n[[unit]]\nname = "{UNIT}"\n')
    built = run(env, "course.build", str(tmp_path))
    assert built.returncode == 0 and (tmp_path / f"source/{UNIT}/{UNIT}.ipynb").is_file(), built.stderr
    guide = run(env, "course.guide", str(tmp_path), "--unit", UNIT)
    assert guide.returncode == 0, guide.stderr
    assert "not_divided_by_the_lengths" in (tmp_path / f"instructors/{UNIT}.md").read_text(encoding="utf-8")
    variants = run(env, "course.variants", UNIT, "ada")
    assert f"{UNIT} is the same for all students" in variants.stderr
    linted = run(env, "autograder", "lint", str(tmp_path), UNIT)
    assert linted.returncode == 0 and "no faults" in linted.stdout, linted.stdout


def test_nothing_in_it_has_the_templates_name(made: tuple[Path, dict[str, str]]) -> None:
    folder, _ = made
    files = [path for path in folder.rglob("*") if path.is_file() and "build" not in path.parts]
    assert len(files) == 11
    for path in files:
        assert "my_unit" not in str(path) and "my-unit" not in str(path)
        assert "my_unit" not in path.read_text(encoding="utf-8") and "my-unit" not in path.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "complaint"),
    [("My Unit", "not a Python package"), ("class", "not a Python package"), ("torch", "is installed already")],
)
def test_a_bad_name_is_refused(tmp_path: Path, name: str, complaint: str) -> None:
    with pytest.raises(new.BadName, match=complaint):
        new.write(name, tmp_path)
    assert not list(tmp_path.iterdir())


def test_what_is_there_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "rotary-lab").mkdir()
    with pytest.raises(new.BadName, match="rotary-lab exists"):
        new.write(NAME, tmp_path)
