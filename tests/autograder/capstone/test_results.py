"""What is kept of a class, and what of it is shown."""

import json

import nbformat
import pytest

from autograder.capstone import results

RESULT = {"bits": 0.8, "floor": 0.6, "excess": 0.2, "points": 8, "seconds": 118.0, "listed": True, "called": ""}


def test_nobody_is_listed_who_did_not_ask(tmp_path):
    results.keep(tmp_path, "17-capstone", "ada", {**RESULT, "called": "A.", "excess": 0.3, "bits": 0.9})
    results.keep(tmp_path, "17-capstone", "ben", RESULT)
    results.keep(tmp_path, "17-capstone", "chen", {**RESULT, "listed": False, "excess": 0.1})
    results.keep(tmp_path, "17-capstone", "dee", {**RESULT, "excess": None, "bits": None, "reason": "no class"})
    (board,) = results.leaderboard(tmp_path)
    assert [(row["called"], row["excess"]) for row in board["rows"]] == [("", 0.2), ("A.", 0.3)]
    assert board["others"] == 2 and not {"ada", "ben", "chen", "dee"} & set(json.dumps(board).split('"'))
    results.keep(tmp_path, "17-capstone", "ada", {**RESULT, "excess": 0.05})
    assert [row["excess"] for row in next(results.leaderboard(tmp_path))["rows"]] == [0.05, 0.2]


def test_no_file_and_a_broken_one(tmp_path):
    assert list(results.leaderboard(tmp_path)) == []
    (tmp_path / results.FILE).write_text("[")
    with pytest.raises(ValueError, match=r"capstone.json cannot be read: move it away"):
        results.read(tmp_path)


def test_the_code_of_a_notebook(tmp_path):
    cells = [nbformat.v4.new_code_cell(role or "own", metadata={"tfkit": {"role": role}} if role else {})
             for role in ("setup", "demo", "project", "experiment", "")]  # fmt: skip
    nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path / "a.ipynb")
    assert results.sources(tmp_path / "a.ipynb") == ["setup", "project", "own"]
    (tmp_path / "b.ipynb").write_text("{}")
    with pytest.raises(ValueError, match="cannot be read as a notebook"):
        results.sources(tmp_path / "b.ipynb")
    with pytest.raises(ValueError, match="neither a notebook"):
        results.sources((tmp_path / "b.ipynb").rename(tmp_path / "c.txt"))
