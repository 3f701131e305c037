"""The class as its autograded notebooks tell it."""

from __future__ import annotations

import json
import sys
from concurrent.futures import ThreadPoolExecutor

import nbformat
import pytest
from tornado.httpclient import HTTPClientError

from tfkit_lab import classes, wording


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
    assert masks["titles"]["masks.causal"] == "Causal mask"
    (common,) = masks["commonest"]
    assert (common["exercise"], common["misconception"], common["students"]) == (
        "masks.causal", "own_position_hidden", 2,
    )  # fmt: skip
    assert common["sentence"].startswith("Your mask hides each position from itself")
    assert common["example"] == ["    return torch.ones(length, length, dtype=torch.bool).tril(diagonal=-1)"]
    assert classes.classes(tmp_path, "fr")[0]["commonest"][0]["sentence"].startswith("Votre masque")
    assert heads["commonest"] == []


def test_a_folder_without_source_is_no_course(tmp_path):
    graded(tmp_path, "ada", RIGHT)
    (tmp_path / "course" / "source").rmdir()
    assert classes.classes(tmp_path) == []


def test_a_misconception_that_the_course_does_not_collect_is_told_by_its_name():
    (told,) = wording.with_sentences("masks.causal", [{"misconception": "swapped_signs"}], "en")
    assert (told["sentence"], told["example"]) == ("swapped signs", [])
    (told,) = wording.with_sentences("nobodys.exercise", [{"misconception": "own_position_hidden"}], "en")
    assert told["sentence"] == "own position hidden"
    assert wording.with_sentences("masks.causal", [{"misconception": "Your teacher cannot count!"}], "en") == []
    assert wording.titles(["nobodys.exercise"], "../fr") == {}


def test_the_next_due_date_comes_first(tmp_path):
    graded(tmp_path, "ada", RIGHT)
    for name, due in (("02-masks", "2026-11-02T10:00:00+01:00"), ("01-first", "2026-11-02T09:30:00+00:00")):
        mark = {"unit": name, "due": due, "exercises": ["masks.causal"]}
        (folder := tmp_path / "course" / "source" / name).mkdir()
        notebook = nbformat.v4.new_notebook(
            cells=[nbformat.v4.new_markdown_cell(f"# {name}")], metadata={"tfkit": mark}
        )
        nbformat.write(notebook, folder / f"{name}.ipynb")
    assert [one["title"] for one in classes.timetable(tmp_path)] == ["02-masks", "01-first"]


def test_an_answer_is_found_with_its_card(tmp_path):
    path = graded(tmp_path, "ada", WRONG)
    notebook = nbformat.read(path, as_version=4)
    mark = {"role": "exercise", "exercise": "masks.causal"}
    notebook.cells.append(nbformat.v4.new_code_cell("def causal_mask(n): ...", metadata={"tfkit": mark}))
    nbformat.write(notebook, path)
    found = classes.answer(tmp_path, "course", "02-masks", "ada", "masks.causal")
    assert found["path"] == "course/autograded/ada/02-masks/02-masks.ipynb"
    assert "tfkit-is-failed" in found["html"] and found["code"] == "def causal_mask(n): ..."
    for who, what in (("ben", "masks.causal"), ("ada", "masks.padding"), ("*", "masks.causal")):
        with pytest.raises(classes.NoAnswer):
            classes.answer(tmp_path, "course", "02-masks", who, what)


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


async def test_an_answer_comes_with_its_attempts_and_a_course_that_is_none_is_refused(
    jp_fetch, jp_serverapp, jp_root_dir
):
    jp_serverapp.web_app.settings["tfkit_desk"] = ThreadPoolExecutor(1)
    graded(jp_root_dir, "ada", WRONG)
    asked = {"course": "course", "assignment": "02-masks", "student": "ada", "exercise": "masks.causal"}
    found = json.loads((await jp_fetch("tfkit", "class", "answer", method="POST", body=json.dumps(asked))).body)
    assert "tfkit-is-failed" in found["html"] and found["attempts"] == []
    for change in ({"course": "../course"}, {"student": "ben"}, {"assignment": "../02-masks"}):
        with pytest.raises(HTTPClientError) as caught:
            await jp_fetch("tfkit", "class", "answer", method="POST", body=json.dumps({**asked, **change}))
        assert caught.value.code == 400
