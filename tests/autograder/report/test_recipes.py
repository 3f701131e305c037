"""Recipes for other graders: they name the assignment's exercises; what they call writes what those graders read."""

from __future__ import annotations

import json
import os
import subprocess
import zipfile

import pytest
import yaml

from autograder.cli import main
from autograder.report import gradescope
from autograder.sandbox import SandboxError

from ..cluster.conftest import course as course
from ..nbgrader.conftest import IDS, UNIT

RIGHT = "import torch\n\n\ndef causal_mask(length):\n    return torch.ones(length, length).tril().bool()\n"


def export(course, to, output):
    with pytest.raises(SystemExit) as end:
        main(["export", str(course.root), UNIT, "--to", to, "-o", str(output)])
    return end.value.code


def test_recipes_name_every_exercise_and_its_points(course, tmp_path, capsys):
    folder, archive = tmp_path / "classroom", tmp_path / "autograder.zip"
    assert export(course, "github-classroom", folder) == export(course, "gradescope-autograder", archive) == 0
    workflow = yaml.safe_load((folder / ".github/workflows/classroom.yml").read_text())
    *_, reporter = steps = workflow["jobs"]["grade"]["steps"]
    graded = [step["with"] for step in steps if step.get("id", "").startswith("test")]
    assert [(one["test-name"], one["max-score"]) for one in graded] == [(name, 2) for name in IDS]
    assert all(f"--tfkit-exercise {one['test-name']} {UNIT}.ipynb" in one["command"] for one in graded)
    assert reporter["with"]["runners"] == "test1,test2,test3"
    assert reporter["env"]["TEST2_RESULTS"] == "${{steps.test2.outputs.result}}"
    with zipfile.ZipFile(archive) as zipped:
        assert sorted(zipped.namelist()) == ["run_autograder", "setup.sh"]
        assert all(entry.external_attr >> 16 == 0o755 for entry in zipped.infolist())
        zipped.extractall(tmp_path)
    for name in ("setup.sh", "run_autograder"):
        assert subprocess.run(["bash", "-n", str(tmp_path / name)]).returncode == 0
    assert " ".join(f"{name}=2" for name in IDS) in (tmp_path / "run_autograder").read_text()
    assert export(course, "gradescope-autograder", archive) == 2
    assert "exists: name a new file" in capsys.readouterr().err


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
    assert found == {"score": 0.0, "output": f"Not graded: hand in {UNIT}.ipynb; there is no notebook"}
    for name in ("a.py", "b.ipynb"):
        (tmp_path / name).write_text(RIGHT)
    assert "there is a.py, b.ipynb" in gradescope.results(UNIT, {"masks.causal": 1.0}, tmp_path)["output"]
    os.rename(tmp_path / "b.ipynb", tmp_path / f"{UNIT}.ipynb")
    assert "is no notebook of format 4" in gradescope.results(UNIT, {"masks.causal": 1.0}, tmp_path)["output"]
