"""Regrade requests: through the exchange, to a person's answer; what a student writes there changes no score."""

import json
import os
import sqlite3

import pytest

from autograder.cli import main
from autograder.marking import desk, regrades, requests
from autograder.marking.question import find_question_id
from autograder.marking.store import BadMark, MarkingStore

from .graded import CODE, TASK, UNIT, give_elsewhere, grade

FOREIGN = 65534  # the account nobody
REASON = "My answer says that it copies the next word."


@pytest.fixture
def inbound(root):
    """The exchange's inbound folder of the released assignment."""
    exchange = root / "exchange" / "tfkit"
    (exchange / "outbound" / UNIT).mkdir(parents=True)
    (exchange / "inbound").mkdir()
    return exchange / "inbound"


@pytest.fixture
def notebook(root, tmp_path):
    """Ada's fetched notebook, in a folder whose settings name the exchange."""
    home = tmp_path / "ada"
    folder = home / UNIT
    folder.mkdir(parents=True)
    (home / "nbgrader_config.py").write_text(
        f"c = get_config()\nc.CourseDirectory.course_id = 'tfkit'\nc.CourseDirectory.student_id = 'ada'\n"
        f"c.Exchange.root = {str(root / 'exchange')!r}\nc.Exchange.cache = {str(home / 'cache')!r}\n"
    )
    marks = [{"grade_id": CODE.cell, "grade": True}, {"grade_id": TASK.cell, "task": True}, {"grade_id": "text"}]
    cells = [{"cell_type": "markdown", "source": "", "metadata": {"nbgrader": mark}} for mark in marks]
    path = folder / f"{UNIT}.ipynb"
    path.write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    return path


def put(inbound, student, name="r1", **request):
    """What a student may write into the inbound folder by hand."""
    folder = inbound / f"{student}+{UNIT}.regrade+2026-10-12 18:00:00 UTC+{name}"
    folder.mkdir()
    asked = {"notebook": UNIT, "cell": TASK.cell, "reason": REASON} | request
    (folder / "request.json").write_text(json.dumps(asked))
    return folder


def first(root):
    found = regrades.list_requests(root)
    return found[0] | {"version": found[0]["answer"]["version"]}


def test_a_request_goes_from_the_students_folder_to_the_page(root, inbound, notebook, capsys):
    desk.set_marks(root, TASK, {"ada": 0}, 1, "Half.", [], "eve")
    with pytest.raises(SystemExit) as left:
        main(["request", str(notebook), "task-why", REASON])
    assert left.value.code == 0 and "task-why" in capsys.readouterr().out
    assert regrades.count_waiting(root) == 1
    one = first(root)
    assert (one["student"], one["cell"], one["reason"], one["accepted"]) == ("ada", TASK.cell, REASON, None)
    assert (one["answer"]["score"], one["answer"]["comment"]) == (1, "Half.")
    assert one["answer"]["text"].startswith("It sees the next word")
    assert len(regrades.list_requests(root)) == 1  # read once, however often the page is opened
    with pytest.raises(SystemExit):
        main(["requests", str(root)])
    assert "task-why ada" in capsys.readouterr().out


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder to another account")
def test_requests_that_others_write_in_a_students_name_do_not_take_their_place(root, inbound, monkeypatch):
    """The folder's name says whose it is, and anybody can choose it; the account that it belongs to they cannot."""
    monkeypatch.setattr(requests, "MAX_OF_ONE", 2)
    for name in ("a1", "a2", "a3"):
        os.chown(put(inbound, "ada", name), FOREIGN, -1)
    put(inbound, "ada", "z1", reason="My own.")
    assert {one["reason"] for one in regrades.list_requests(root)} == {REASON, "My own."}


def test_collecting_passes_requests_by(root, inbound, notebook):
    requests.send(notebook, CODE.cell, REASON)
    (folder,) = inbound.iterdir()
    assert f"+{UNIT}+" not in folder.name and folder.name.startswith(f"ada+{UNIT}.regrade+")
    assert folder.stat().st_mode & 0o777 == 0o777 and (folder / "request.json").stat().st_mode & 0o777 == 0o644


@pytest.mark.parametrize(("asked", "cell"), [("masks.causal", CODE.cell), ("why", TASK.cell), (TASK.cell, TASK.cell)])
def test_a_question_is_found_by_its_id_and_by_its_exercise(notebook, asked, cell):
    assert find_question_id(notebook, asked, REASON) == cell


def test_what_cannot_be_asked_is_said(root, notebook, capsys):
    for question, reason, words in (
        ("masks.no", REASON, "it has check-masks-causal, task-why"),
        (TASK.cell, " ", "in 1 to 2000 characters"),
        (TASK.cell, REASON, "Inbound directory"),
    ):
        with pytest.raises(SystemExit) as left:
            main(["request", str(notebook), question, reason])
        assert left.value.code == 2 and words in capsys.readouterr().err


def test_an_accepted_request_is_a_new_mark_with_a_sentence(root, inbound):
    desk.set_marks(root, TASK, {"ada": 0}, 1, "Half.", [], "eve")
    put(inbound, "ada")
    one = first(root)
    done = regrades.accept(root, one["id"], one["version"], 2, "You are right.", [], "otto")
    assert done["done"] == ["ada"] and "no feedback has been generated" in done["feedback"]
    assert grade(root, "ada") == (2, False, "On your request: You are right.")
    (one,) = regrades.list_requests(root)
    assert (one["accepted"], one["by"], one["sentence"]) == (True, "otto", "You are right.")
    with pytest.raises(BadMark, match="otto has already answered"):
        regrades.decline(root, one["id"], 0, "No.", "eve")
    kinds = [event["kind"] for event in desk.history(root, TASK)]
    assert sorted(kinds) == ["accepted", "asked", "mark", "mark"]


def test_a_declined_request_keeps_the_mark_and_says_why(root, inbound):
    number = desk.question(root, TASK)["rubric"][0]["id"]
    desk.set_marks(root, TASK, {"ada": 0}, 1, "", [number], "eve")
    put(inbound, "ada")
    one = first(root)
    with pytest.raises(BadMark, match="give a reason"):
        regrades.decline(root, one["id"], one["version"], " ", "otto")
    assert regrades.decline(root, one["id"], one["version"], "The test is missing.", "otto")["done"] == ["ada"]
    text = "It sees the next word.\nYour request was declined: The test is missing."
    assert grade(root, "ada") == (1, False, text)
    desk.change_item(root, TASK, number, "It copies.", 1, "eve")  # the sentence stays when the rubric changes
    assert grade(root, "ada")[2] == "It copies.\nYour request was declined: The test is missing."
    assert regrades.count_waiting(root) == 0


def test_a_declined_request_about_code_keeps_the_graders_score(root, inbound):
    put(inbound, "chen", cell=CODE.cell)
    one = first(root)
    assert one["answer"]["verdict"]["misconception"] == "no_diagonal"
    regrades.decline(root, one["id"], one["version"], "A position may see itself.", "eve")
    assert grade(root, "chen", CODE) == (0, False, "Your request was declined: A position may see itself.")


def test_a_mark_that_was_changed_meanwhile_is_not_overwritten(root, inbound):
    put(inbound, "ada")
    one = first(root)
    give_elsewhere(root, "ada", 0.5, "Nearly.")
    said = regrades.accept(root, one["id"], one["version"], 2, "", [], "otto")
    assert said["meanwhile"]["ada"]["by"] == "the formgrader"
    assert regrades.decline(root, one["id"], one["version"], "No.", "otto")["done"] == []
    assert grade(root, "ada") == (0.5, False, "Nearly.") and regrades.count_waiting(root) == 1


def test_a_second_request_waits_for_the_answer_to_the_first(root, inbound):
    put(inbound, "ada")
    put(inbound, "ada", "r2", reason="And again.")
    assert [one["reason"] for one in regrades.list_requests(root)] == [REASON]
    one = first(root)
    regrades.decline(root, one["id"], one["version"], "No.", "eve")
    assert [one["reason"] for one in regrades.list_requests(root)] == ["And again.", REASON]


def test_the_sender_is_named_where_the_account_is_another(root, inbound):
    put(inbound, "ada")
    owner = first(root)["sender"]
    assert owner and owner != "ada"


def test_what_a_student_writes_there_changes_nothing(root, inbound, tmp_path):
    """Forged marks, strangers, links, devices, floods: no score and no comment changes, and the page still opens."""
    (tmp_path / "secret.json").write_text(json.dumps({"notebook": UNIT, "cell": TASK.cell, "reason": "the key"}))
    put(inbound, "ada", score=2, accepted=True, by="eve", sentence="Accepted.")
    put(inbound, "zoe")  # nobody of that name
    put(inbound, "ben", cell="task-none")
    put(inbound, "ben", "r2", notebook="../../gradebook")
    put(inbound, "ben", "r3", reason={"a": 1}, cell=[1])
    (put(inbound, "ben", "r4") / "request.json").write_text("x" * 50_000)
    link = put(inbound, "ben", "r5") / "request.json"
    link.unlink()
    link.symlink_to(tmp_path / "secret.json")
    pipe = put(inbound, "ben", "r6") / "request.json"
    pipe.unlink()
    os.mkfifo(pipe)
    (inbound / f"ben+{UNIT}.regrade+x+r7").symlink_to(tmp_path)
    (inbound / "odd+name").mkdir()
    found = regrades.list_requests(root)
    assert [(one["student"], one["reason"], one["accepted"]) for one in found] == [("ada", REASON, None)]
    assert grade(root, "ada")[1:] == (True, None) and grade(root, "ben")[1:] == (True, None)
    with MarkingStore(root) as store:
        assert store.marks(TASK) == {}


def test_a_flood_of_one_student_hides_nobody_elses_request(root, inbound):
    for number in range(requests.MAX_OF_ONE + 10):
        put(inbound, "ada", f"r{number:03}", cell="task-none")
    put(inbound, "ben")
    assert [one["student"] for one in regrades.list_requests(root)] == ["ben"]


@pytest.mark.parametrize("table", ["marks", "requests", "answers", "shares", "changes"])
def test_what_was_written_down_cannot_be_rewritten(root, inbound, table):
    put(inbound, "ada")
    one = first(root)
    desk.add_item(root, TASK, "Say more.", 1, "eve")
    regrades.decline(root, one["id"], one["version"], "No.", "eve")
    with MarkingStore(root) as store:
        store.add_shares(TASK, {"ada": "eve"}, "eve")
    with sqlite3.connect(root / "marking.db") as file:
        for change in (f"update {table} set by = 'x'", f"delete from {table}"):
            with pytest.raises(sqlite3.Error, match="append-only|no such column"):
                file.execute(change)
