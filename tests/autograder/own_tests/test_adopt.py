"""An ordinary notebook becomes an assignment; its tests are held to mutants in its own solution."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from autograder.api import Limits
from autograder.cli import main
from autograder.exercises.edits import apply_replacements, parse_replacements
from autograder.own_tests import adopt, mutants
from autograder.own_tests import grade as own_tests
from autograder.sandbox import choose

SOLUTION = """def mean(x):
    '''The mean of all entries.'''
    ### BEGIN SOLUTION
    return sum(x) / len(x)
    ### END SOLUTION"""
WEAK = "assert mean([1.0]) == 1.0"
SHARP = "# points: 2\nassert mean([1.0, 3.0]) == 2.0, 'the mean of two'"


def notebook(path, *cells):
    nb = new_notebook(cells=[new_markdown_cell("# Homework"), new_code_cell("%matplotlib inline\nimport math")])
    nb.cells += [new_code_cell(cell) for cell in cells]
    nbformat.write(nb, path)
    return path


def test_what_the_tests_miss_is_named_until_they_see_it(tmp_path):
    _, report = adopt.adopt(notebook(tmp_path / "hw1.ipynb", SOLUTION, WEAK), tmp_path / "course")
    assert "mean: return sum(x) / len(x)  =>  return sum(x)" in [mutant.name for mutant in report.survived]
    assert "your tests miss" in "\n".join(report.lines("hw1"))
    source, report = adopt.adopt(notebook(tmp_path / "hw1.ipynb", SOLUTION, WEAK, SHARP), tmp_path / "course")
    assert report.survived == [] and (report.solutions, report.tests) == (1, 2)
    listed = json.loads((tmp_path / "course/corpus/hw1/mutants.json").read_text())
    entries = tomllib.loads((tmp_path / "course/corpus/hw1/wrong.toml").read_text())
    assert [one["name"] for one in listed["caught"]] == list(entries) and listed["missed"] == []
    whole = next(one for one in listed["caught"] if one["mutant"].endswith("=>  return sum(x)"))
    assert whole["caught by"] == ["tests-2"]
    base = (tmp_path / "course/corpus/hw1/right/solution-1.py").read_text()
    mutant = entries[whole["name"]]
    assert mutant["base"] == "solution-1" and mutant["change"] == "-    return sum(x) / len(x)\n+    return sum(x)\n"
    made: dict = {}
    exec(apply_replacements(base, parse_replacements(mutant["change"], base)), made)
    assert made["mean"]([1.0, 3.0]) == 4.0
    marks = [cell.metadata.get("nbgrader") for cell in nbformat.read(source, as_version=4).cells]
    assert [mark["grade_id"] for mark in marks if mark] == ["solution-1", "tests-1", "tests-2"]
    assert [mark.get("points") for mark in marks if mark] == [None, 1.0, 2.0]


def test_the_notebook_of_the_tutorial_gives_what_the_tutorial_shows(tmp_path):
    page = (Path(__file__).parents[3] / "docs/units.md").read_text(encoding="utf-8").partition("## In a package")[0]
    cells = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    shown = re.search(r"```console\n(.*?)```", page, re.DOTALL)[1].splitlines()
    assert shown[0] == "$ autograder adopt hw1.ipynb my-course" and len(cells) == 2
    file = notebook(tmp_path / "hw1.ipynb", "import torch", *cells)
    _, report = adopt.adopt(file, tmp_path / "my-course")
    said = list(report.lines("hw1"))
    assert [line for line in shown[1:] if line.strip() != "…" and line not in said] == []
    missed = next(line for line in shown if "=>" in line)
    better = re.search(r"`(assert torch\.isfinite.*?)`", page, re.DOTALL)[1].replace("\n", " ")
    _, report = adopt.adopt(notebook(file, "import torch", *cells, better), tmp_path / "my-course")
    assert report.tests == 2 and missed not in report.lines("hw1")


def test_a_slip_that_never_ends_is_stopped(tmp_path, monkeypatch):
    monkeypatch.setattr("autograder.checks.mutation.SECONDS", 0.3)
    loop = SOLUTION.replace("return sum(x) / len(x)", "n = 0\n    while n < len(x):\n        n += 1\n    return n")
    _, report = adopt.adopt(notebook(tmp_path / "hw1.ipynb", loop, "assert mean([1, 2, 3]) == 3"), tmp_path / "c")
    assert report.raised >= 1  # n -= 1


@pytest.mark.parametrize(
    ("cells", "complaint"),
    [
        ([SHARP], "no cell has a solution"),
        ([SOLUTION], "no cell below a solution has an assert"),
        ([SOLUTION.replace("    ### END SOLUTION", ""), SHARP], "has only one of ### BEGIN SOLUTION"),
        ([SOLUTION, "assert mean([2.0]) == 3.0"], "fails its own test tests-1: correct it first"),
        (["1 / 0", SOLUTION, SHARP], "stops with ZeroDivisionError: division by zero: correct it first"),
    ],
)
def test_what_is_no_assignment_is_refused_and_nothing_written(tmp_path, cells, complaint):
    with pytest.raises(adopt.AdoptionError, match=complaint):
        adopt.adopt(notebook(tmp_path / "hw1.ipynb", *cells), tmp_path / "course")
    assert not (tmp_path / "course").exists()


def test_what_is_no_notebook_is_refused(tmp_path):
    (tmp_path / "a.ipynb").write_text("print(1)")
    for name, complaint in (("a.ipynb", "is not a notebook"), ("b.ipynb", "cannot be read: No such file")):
        with pytest.raises(adopt.AdoptionError, match=complaint):
            adopt.adopt(tmp_path / name, tmp_path / "course")


def test_the_command_lints_what_it_wrote_in_the_box(tmp_path, capsys):
    file = notebook(tmp_path / "hw1.ipynb", SOLUTION, SHARP)
    with pytest.raises(SystemExit) as end:
        main(["adopt", str(file), str(tmp_path / "course")])
    said = capsys.readouterr().out
    assert end.value.code == 0, said
    assert "mutants the tests catch" in said and "your tests miss" not in said
    assert "hw1: 1 check, 2 points" in said and "no faults" in said
    assert (tmp_path / "course/nbgrader_config.py").is_file()


ANSWERS = {  # the first two are one mutant, written in two ways
    "return sum(x)": "Your code behaves like the solution without `/ len(x)` in `mean`.",
    "total = 0\n    for one in x:\n        total += one\n    return total": "without `/ len(x)`",
    "return 7": "",
    "return sum(x) / len(x)": "",
}


@pytest.mark.parametrize("answer", ANSWERS)
def test_a_failed_test_names_the_one_slip_that_answers_alike(tmp_path, answer):
    source, _ = adopt.adopt(notebook(tmp_path / "hw1.ipynb", SOLUTION, SHARP), tmp_path / "course")
    known = mutants.setting(tmp_path / "course" / "corpus")["hw1"]
    nb = nbformat.read(source, as_version=4)
    for cell in nb.cells:
        grade = cell.metadata.get("nbgrader", {}).get("grade_id", "")
        cell.metadata["tfkit"] = {"role": {"s": "exercise", "t": "check"}.get(grade[:1], "setup")}
        cell.source = f"def mean(x):\n    {answer}\n" if grade == "solution-1" else cell.source
    test = next(cell.id for cell in nb.cells if cell.metadata.get("nbgrader", {}).get("grade"))
    verdict = own_tests.grade(nb, {test: 2.0}, {test: "tests-1"}, choose(), Limits(), known)[test]
    assert ANSWERS[answer] in (verdict.hint or "") and bool(verdict.hint) == bool(ANSWERS[answer])
    assert "the mean of two" in verdict.checks[0].message or answer == "return sum(x) / len(x)"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("if a <= b:", "if a < b:", "with `<` instead of `<=` in `f`"),
        ("x[:, 1]", "x[:, 2]", "with `2` instead of `1` in `f`"),
        ("a + b", "a", "without `+ b` in `f`"),
        ("", "return 1", "with `return 1` in `f`"),
    ],
)
def test_a_slip_in_words(old, new, said):
    assert mutants.words("f", old, new) == said


def test_a_damaged_corpus_is_named(tmp_path):
    (tmp_path / "hw1").mkdir()
    (tmp_path / "hw1" / "mutants.json").write_text("{")
    with pytest.raises(ValueError, match=r"mutants.json is damaged .*: run `autograder adopt` again"):
        mutants.setting(tmp_path)
