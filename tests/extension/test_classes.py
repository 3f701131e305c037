"""The class as its autograded notebooks tell it."""

from __future__ import annotations

import json
import sys

import nbformat

from tfkit_lab import classes


def graded(root, student, *verdicts, assignment="02-masks"):
    """A notebook as the grader leaves it."""
    keys = ("exercise", "status", "score", "max_score", "misconception", "reason")
    marks = [{"role": "check", "verdict": dict(zip(keys, verdict, strict=True))} for verdict in verdicts]
    cells = [nbformat.v4.new_markdown_cell("# Masks")]
    cells += [nbformat.v4.new_code_cell("check()", metadata={"tfkit": mark}) for mark in marks]
    path = root / "course" / "autograded" / student / assignment / f"{assignment}.ipynb"
    path.parent.mkdir(parents=True)
    nbformat.write(nbformat.v4.new_notebook(cells=cells), path)
    (root / "course" / "source").mkdir(exist_ok=True)
    return path


RIGHT = ("masks.causal", "passed", 2.0, 2.0, None, None)
WRONG = ("masks.causal", "failed", 0.0, 2.0, "own_position_hidden", None)
LOST = ("masks.padding", "not_graded", 0.0, 1.0, None, "the box was out of memory")


def test_students_verdicts_and_what_most_misunderstand(tmp_path):
    graded(tmp_path, "ada", RIGHT, LOST)
    graded(tmp_path, "ben", WRONG)
    graded(tmp_path, "chen", WRONG)
    graded(tmp_path, "dee", RIGHT, assignment="03-heads")
    graded(tmp_path, "eve").write_text("no notebook")
    masks, heads = classes.classes(tmp_path)
    assert (masks["course"], masks["assignment"], heads["assignment"]) == ("course", "02-masks", "03-heads")
    assert masks["exercises"] == ["masks.causal", "masks.padding"]
    assert [one["student"] for one in masks["students"]] == ["ada", "ben", "chen", "eve"]
    assert masks["students"][0]["path"] == "course/autograded/ada/02-masks/02-masks.ipynb"
    assert masks["students"][0]["verdicts"]["masks.padding"]["reason"] == "the box was out of memory"
    assert masks["students"][3]["verdicts"] == {}
    assert masks["commonest"] == [{"exercise": "masks.causal", "misconception": "own_position_hidden", "students": 2}]
    assert heads["commonest"] == []


def test_a_folder_without_source_is_no_course(tmp_path):
    graded(tmp_path, "ada", RIGHT)
    (tmp_path / "course" / "source").rmdir()
    assert classes.classes(tmp_path) == []


async def test_the_route(jp_fetch, jp_root_dir):
    graded(jp_root_dir, "ada", RIGHT)
    answer = json.loads((await jp_fetch("tfkit", "class")).body)
    assert answer["python"] == sys.executable
    assert answer["assignments"][0]["students"][0]["verdicts"]["masks.causal"]["score"] == 2.0


def test_the_leaderboard_has_who_asked_and_nobodys_name(tmp_path):
    graded(tmp_path, "ada", RIGHT, assignment="17-capstone")
    row = {"bits": 0.7, "floor": 0.6, "excess": 0.1, "seconds": 118.0, "called": "", "listed": True}
    kept = {"17-capstone": {"ada": row, "ben": {**row, "listed": False}}}
    (tmp_path / "course" / "capstone.json").write_text(json.dumps(kept))
    (board,) = classes.leaderboards(tmp_path)
    assert (board["course"], board["assignment"], board["others"], len(board["rows"])) == (
        "course",
        "17-capstone",
        1,
        1,
    )
    assert "ada" not in json.dumps(board)
    (tmp_path / "course" / "capstone.json").write_text("{")
    assert classes.leaderboards(tmp_path) == []
