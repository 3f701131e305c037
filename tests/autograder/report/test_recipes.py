"""Recipes for other graders: they name the assignment's exercises; what they call writes what those graders read."""

from __future__ import annotations

import base64
import importlib.metadata
import importlib.util
import io
import json
import os
import subprocess
import zipfile
from pathlib import Path

import pytest
import yaml

from autograder.api import CheckResult, Verdict
from autograder.cli import main
from autograder.report import classroom, gradescope, recipes
from autograder.sandbox import SandboxError

from ..cluster.conftest import course as course
from ..cluster.conftest import released_class as released_class
from ..nbgrader.conftest import IDS, UNIT

spec = importlib.util.spec_from_file_location("footprint", Path(__file__).parents[3] / "tools/footprint.py")
footprint = importlib.util.module_from_spec(spec)
spec.loader.exec_module(footprint)
RIGHT = "import torch\n\n\ndef causal_mask(length):\n    return torch.ones(length, length).tril().bool()\n"


WHEEL = "tfkit_course-0.1.0-py3-none-any.whl"
GIT = "git+https://example.org/course.git@v1"


def export(course, to, output, package=GIT):
    with pytest.raises(SystemExit) as end:
        main(["export", str(course.root), UNIT, "--to", to, "-o", str(output), "--package", str(package)])
    return end.value.code


def test_what_a_recipe_installs_is_a_wheel_or_a_url(tmp_path, monkeypatch):
    wheel = tmp_path / WHEEL
    wheel.write_bytes(b"a wheel")
    assert recipes.package_of(GIT).requirement == f"tfkit-course[grading] @ {GIT}"
    assert recipes.package_of(str(wheel)) == recipes.CoursePackage(f"./{WHEEL}[grading]", wheel)
    came_from = {"url": "https://example.org/c.git", "vcs_info": {"vcs": "git", "commit_id": "abc"}}
    monkeypatch.setattr(recipes, "origin", lambda: came_from)
    assert recipes.package_of(None).requirement == "tfkit-course[grading] @ git+https://example.org/c.git@abc"
    monkeypatch.setattr(recipes, "origin", lambda: {"url": wheel.as_uri(), "archive_info": {}})
    assert recipes.package_of(None).wheel == wheel
    for came_from in ({}, {"url": tmp_path.as_uri(), "dir_info": {"editable": True}}):
        monkeypatch.setattr(recipes, "origin", lambda: came_from)  # noqa: B023
        with pytest.raises(recipes.ExportError, match="name a wheel .* or a URL, with --package"):
            recipes.package_of(None)
    with pytest.raises(recipes.ExportError, match=r"tfkit-0.8.20-py3-none-any.whl is not a wheel of tfkit-course"):
        recipes.package_of("tfkit-0.8.20-py3-none-any.whl")


def test_a_wheel_travels_with_the_recipe(course, tmp_path):
    wheel = tmp_path / WHEEL
    wheel.write_bytes(b"a wheel")
    folder, archive = tmp_path / "classroom", tmp_path / "autograder.zip"
    assert export(course, "github-classroom", folder, wheel) == 0
    assert export(course, "gradescope-autograder", archive, wheel) == 0
    assert (folder / ".github/grader" / WHEEL).read_bytes() == b"a wheel"
    installed = yaml.safe_load((folder / ".github/workflows/classroom.yml").read_text())["env"]["TFKIT"]
    assert installed == f"./.github/grader/{WHEEL}[grading]"
    with zipfile.ZipFile(archive) as zipped:
        assert zipped.read(WHEEL) == b"a wheel" and f'"./{WHEEL}[grading]"' in zipped.read("setup.sh").decode()


def test_recipes_name_every_exercise_and_its_points(course, tmp_path, capsys):
    folder, archive = tmp_path / "classroom", tmp_path / "autograder.zip"
    assert export(course, "github-classroom", folder) == export(course, "gradescope-autograder", archive) == 0
    workflow = yaml.safe_load((folder / ".github/workflows/classroom.yml").read_text())
    *_, reporter = steps = workflow["jobs"]["grade"]["steps"]
    (grade,) = [step["run"] for step in steps if step.get("id")]
    assert f"autograder.report.classroom {UNIT} {' '.join(f'{name}=2' for name in IDS)} --hints 3" in grade
    assert reporter["with"]["runners"] == "test1,test2,test3"
    assert reporter["env"]["TEST2_RESULTS"] == "${{steps.grade.outputs.test2}}"
    with zipfile.ZipFile(archive) as zipped:
        assert sorted(zipped.namelist()) == ["run_autograder", "setup.sh"]
        assert all(entry.external_attr >> 16 == 0o755 for entry in zipped.infolist())
        zipped.extractall(tmp_path)
    for name in ("setup.sh", "run_autograder"):
        assert subprocess.run(["bash", "-n", str(tmp_path / name)]).returncode == 0
    assert " ".join(f"{name}=2" for name in IDS) in (tmp_path / "run_autograder").read_text()
    assert export(course, "gradescope-autograder", archive) == 2
    assert "exists: name a new file" in capsys.readouterr().err


@pytest.mark.parametrize(("old", "size", "said"), [(False, 900, ""), (True, 900, ""), (False, 2600, "takes 2600 MB")])
def test_gradescope_gets_a_python_that_is_new_enough_and_an_image_that_fits(tmp_path, old, size, said):
    """Ubuntu 22.04 has Python 3.10: uv brings 3.11. What installs is stood in for by notes of its call."""
    opt = tmp_path / "opt"
    note = f'echo "$(basename $0) $*" >> {tmp_path}/made'
    uv = f'[ "$2" = find ] && echo {tmp_path}/python3.11 && exit; {note}'
    headers = "lib/python3.11/site-packages/torch/include"
    make = f"mkdir -p $3/bin $3/{headers}; cp {tmp_path}/pip $3/bin/pip; cp {tmp_path}/uv $3/bin/uv"
    remove = '[[ "$*" = */var/* ]] || /bin/rm "$@"'
    stubs = {"apt-get": "", "rm": remove, "du": f"printf '{size}\\t/opt'", "pip": note, "uv": uv,
             "python3.11": f"{note}; {make}",
             "python3": f'[ "$1" = -c ] && exit {int(old)}; {note}; {make}'}  # fmt: skip
    for name, body in stubs.items():
        (tmp_path / name).write_text(f"#!/bin/bash\n{body}\n")
        (tmp_path / name).chmod(0o755)
    with zipfile.ZipFile(
        io.BytesIO(recipes.archive(UNIT, [], recipes.CoursePackage("x"), 3, "https://a/cpu"))
    ) as zipped:
        zipped.extract("setup.sh", tmp_path)
    env = {"PATH": f"{tmp_path}:/usr/bin:/bin", "OPT": str(opt)}
    done = subprocess.run(["bash", str(tmp_path / "setup.sh")], env=env, capture_output=True, text=True, timeout=60)
    assert (done.returncode, said in done.stderr) == (int(bool(said)), True)
    assert (opt / "grader" / headers).parent.exists() and not (opt / "grader" / headers).exists()
    made = (tmp_path / "made").read_text().splitlines()
    brought = [
        f"python3 -m venv {opt}/uv",
        "pip install uv",
        "uv python install 3.11",
        f"python3.11 -m venv {opt}/grader",
    ]
    assert made[:-2] == (brought if old else [f"python3 -m venv {opt}/grader"])
    assert made[-2:] == ["pip install --no-cache-dir torch --index-url https://a/cpu", "pip install --no-cache-dir x"]


def test_what_gradescope_installs_fits_its_image_with_the_cpu_build():
    build = importlib.metadata.version("torch")
    if "+cpu" not in build:
        pytest.skip(f"this is PyTorch {build}, with CUDA: only the CPU build is meant to fit")
    found = footprint.closure("tfkit-course[grading]")
    whole = sum(found.values()) / footprint.MIB + footprint.PYTHON_MIB
    assert 800 < whole < recipes.LARGEST_MB and {"torch", "nbgrader", "tokenizers"} <= set(found)
    assert whole + footprint.SYSTEM_MIB < footprint.GRADESCOPE_MIB


def test_gradescope_gets_a_test_per_exercise(tmp_path):
    submission, results = tmp_path / "submission", tmp_path / "results" / "results.json"
    submission.mkdir()
    (submission / f"{UNIT}.py").write_text(RIGHT)
    pairs = ["masks.causal=3", "masks.padding=2"]
    gradescope.main([UNIT, *pairs, "--submission", str(submission), "--results", str(results)])
    right, missing = json.loads(results.read_text())["tests"]
    assert (right["name"], right["score"], right["max_score"], right["status"]) == ("masks.causal", 3, 3, "passed")
    assert (missing["score"], missing["max_score"], missing["status"]) == (0, 2, "failed")
    assert "no function `padding_mask` is defined" in missing["output"]


def test_classroom_gets_the_points_of_every_exercise_from_one_start(tmp_path, monkeypatch, capsys):
    (tmp_path / f"{UNIT}.py").write_text(RIGHT)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GITHUB_OUTPUT", str(tmp_path / "outputs"))
    classroom.main([UNIT, "masks.causal=3", "masks.padding=2"])
    said = dict(line.split("=", 1) for line in (tmp_path / "outputs").read_text().splitlines())
    right, missing = (json.loads(base64.b64decode(said[name])) for name in ("test1", "test2"))
    assert (right["status"], right["max_score"], right["tests"][0]["score"]) == ("pass", 3, 3)
    assert (missing["status"], missing["max_score"], missing["tests"][0]["score"]) == ("fail", 2, 0)
    assert "no function `padding_mask` is defined" in missing["tests"][0]["message"]
    assert "masks.causal passed" in capsys.readouterr().out
    (tmp_path / f"{UNIT}.py").unlink()
    (line,) = classroom.outputs(gradescope.results(UNIT, {"masks.causal": 1.0}, tmp_path), {"masks.causal": 1.0})
    nothing = json.loads(base64.b64decode(line.removeprefix("test1=")))
    assert nothing["tests"][0]["score"] == 0 and "submit" in nothing["tests"][0]["message"]


def test_without_a_box_there_are_no_zeros(tmp_path, monkeypatch, capsys):
    def none(trust):
        raise SandboxError("no sandbox works here")

    monkeypatch.setattr(gradescope, "choose", none)
    with pytest.raises(SystemExit) as end:
        gradescope.main([UNIT, "masks.causal=3", "--submission", str(tmp_path), "--results", str(tmp_path / "r.json")])
    assert end.value.code == 2 and "no sandbox works here (--trust)" in capsys.readouterr().err
    assert not (tmp_path / "r.json").exists()


def test_what_cannot_be_graded_scores_nothing_and_says_why(tmp_path):
    found = gradescope.results(UNIT, {"masks.causal": 1.0}, tmp_path)
    assert found == {"score": 0.0, "output": f"Not graded: submit {UNIT}.ipynb; you submitted: no notebook"}
    for name in ("a.py", "b.ipynb"):
        (tmp_path / name).write_text(RIGHT)
    assert "submitted: a.py, b.ipynb" in gradescope.results(UNIT, {"masks.causal": 1.0}, tmp_path)["output"]
    os.rename(tmp_path / "b.ipynb", tmp_path / f"{UNIT}.ipynb")
    assert "is not a notebook of format 4" in gradescope.results(UNIT, {"masks.causal": 1.0}, tmp_path)["output"]


def test_recipes_show_as_much_help_as_the_course_does(course, tmp_path):
    with (course.root / "nbgrader_config.py").open("a") as file:
        file.write("\nc.ShowVerdicts.hints = 1\n")
    folder, archive = tmp_path / "classroom", tmp_path / "autograder.zip"
    assert export(course, "github-classroom", folder) == export(course, "gradescope-autograder", archive) == 0
    workflow = yaml.safe_load((folder / ".github/workflows/classroom.yml").read_text())
    (grade,) = [step["run"] for step in workflow["jobs"]["grade"]["steps"] if step.get("id")]
    assert grade.endswith("--hints 1")
    with zipfile.ZipFile(archive) as zipped:
        assert "--hints 1" in zipped.read("run_autograder").decode()
    check = CheckResult(name="scale", status="failed", message="off by 3 at [0]")
    verdict = Verdict(exercise="masks.causal", status="failed", score=0.0, max_score=1.0, checks=(check,),
                      hint="Your scores are divided by d.", file="x.ipynb")  # fmt: skip
    one, two = (gradescope._test("masks.causal", 2.0, verdict, hints)["output"] for hints in (1, 2))
    assert "off by 3" not in one and "divided by d" in one and one.startswith("x.ipynb:")
    assert "off by 3" in two
