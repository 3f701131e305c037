"""All exercises of a notebook: which they are, what they are worth, and which lines of the file a verdict points to."""

from __future__ import annotations

import json

import pytest

from autograder.cli import main
from autograder.grade.notebook import exercises_of, grade_file
from autograder.sandbox import choose


def cell(source, role="demo", exercise=None, points=None):
    metadata = {"tfkit": {"role": role, "exercise": exercise}}
    if points is not None:
        metadata["nbgrader"] = {"points": points}
    return {"cell_type": "code", "id": f"{role}-{exercise}", "metadata": metadata, "source": source, "outputs": []}


def notebook(*cells, **tfkit):
    return {"cells": list(cells), "metadata": {"tfkit": tfkit}, "nbformat": 4, "nbformat_minor": 5}


def check(exercise, points=None):
    return cell(f'check("{exercise}")', "check", exercise, points)


def test_exercises_are_those_of_the_checks_and_of_the_list_in_the_metadata():
    found = exercises_of(notebook(check("masks.padding", 3), exercises=["masks.softmax", "masks.padding", 7]))
    assert [(one.id, one.points) for one in found] == [("masks.padding", 3), ("masks.softmax", 2)]


@pytest.mark.parametrize("points", [0, -1, True, "2", float("nan"), 10**310, None])
def test_points_that_are_none_leave_the_exercises_own(points):
    (found,) = exercises_of(notebook(check("masks.softmax", points)))
    assert found.points == 2


@pytest.mark.parametrize("metadata", [None, {"tfkit": None}, {"tfkit": {"exercises": 3}}, {"tfkit": []}])
def test_odd_metadata_name_no_exercise(metadata):
    odd = {"cell_type": "code", "source": "", "metadata": {"tfkit": {"role": "check", "exercise": ["a"]}}}
    assert exercises_of({"cells": [odd], "metadata": metadata}) == []


def test_a_verdict_points_to_the_line_of_the_file_that_departs(tmp_path):
    wrong = ["def causal_mask(length):\n", "    steps = torch.arange(length)\n",
             "    return steps[:, None] > steps[None, :]\n"]  # fmt: skip
    cells = [
        cell("import torch", "setup"),
        cell(wrong, "exercise", "masks.causal"),
        check("masks.causal"),
        check("masks.padding"),
    ]
    file = tmp_path / "02-masks.ipynb"
    file.write_text(json.dumps(notebook(*cells), indent=1), encoding="utf-8")
    result = grade_file(file, choose())
    causal, padding = result.verdicts
    assert (causal.verdict.status, causal.cell, causal.verdict.line) == ("failed", 2, 3)
    assert "steps[:, None] >" in file.read_text().splitlines()[causal.line_in_file(3) - 1]
    assert "def causal_mask" in file.read_text().splitlines()[causal.line_in_file(None) - 1]
    assert "no function `padding_mask`" in padding.verdict.reason
    assert (padding.cell, padding.line_in_file(None)) == (None, 1)


@pytest.mark.parametrize(
    ("content", "problem"),
    [("{", "is not a notebook"), (json.dumps(notebook(cell("1"))), "has no exercise"), (None, "there is no file")],
)
def test_a_file_without_exercises_is_a_result_with_its_problem(tmp_path, content, problem):
    file = tmp_path / "a.ipynb"
    if content is not None:
        file.write_text(content)
    result = grade_file(file, None)
    assert result.verdicts == () and problem in result.problem and str(file) in result.problem


RIGHT = "import torch\ndef causal_mask(length):\n    return torch.ones(length, length).tril().bool()"
ODD_MARKS = {"cell_type": "code", "source": "x = 1", "metadata": {"tfkit": [1]}}


def write(file, *cells):
    file.write_text(json.dumps(notebook(*cells)), encoding="utf-8")
    return file


@pytest.mark.parametrize(
    ("name", "odd", "problem"),
    [
        ("marks.ipynb", {**ODD_MARKS, "metadata": {"tfkit": "x"}}, ""),
        ("exercise.ipynb", cell("x = 1", "exercise", ["masks.causal"]), ""),
        ("points.ipynb", check("masks.causal", 10**310), ""),
        ("source.ipynb", cell([1]), "is not a notebook"),
        ("nothing.ipynb", {"cell_type": "code", "metadata": {}}, "is not a notebook"),
        ("answer.py", ODD_MARKS, "autograder check ID"),
    ],
)
def test_an_odd_file_costs_neither_itself_nor_another_its_verdicts_without_need(
    tmp_path, monkeypatch, capsys, name, odd, problem
):
    """What is only marked oddly is graded as well, and whatever else is wrong is a problem of that file alone."""
    sound = [cell(RIGHT, "exercise", "masks.causal"), check("masks.causal")]
    good, bad = write(tmp_path / "good.ipynb", *sound), write(tmp_path / name, *sound, ODD_MARKS, odd)
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    with pytest.raises(SystemExit) as ended:
        main(["check", str(good), str(bad), str(good), "--format", "github"])
    told = capsys.readouterr()
    assert told.out.count("✓ masks.causal 1/1") == (2 if problem else 3)
    assert ended.value.code == (2 if problem else 0) and problem in told.err and "Traceback" not in told.err


def test_a_notebook_is_read_once_whatever_its_code_does_to_the_file(tmp_path):
    file = tmp_path / "a.ipynb"
    deletes = f"import os\nos.unlink({str(file)!r})\n{RIGHT}"
    write(file, cell(deletes, "exercise", "masks.causal"), check("masks.causal"))
    (only,) = grade_file(file, choose(trust=True, name="subprocess")).verdicts
    assert only.verdict.status == "passed" and only.line_in_file(None) == 1 and not file.exists()
