"""What the marking routes really answer is what the page's types are made from."""

import json
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import jsonschema
import pytest

from ..autograder.marking.conftest import marked_course  # noqa: F401 (a fixture)
from ..autograder.marking.graded import CODE, TASK, UNIT

SCHEMA = json.loads((Path(__file__).parents[2] / "extension" / "protocol" / "marking.json").read_text(encoding="utf-8"))
ASSIGNMENT = {"course": "mine", "assignment": UNIT}


@pytest.fixture
def jp_server_config():
    return {"ServerApp": {"jpserver_extensions": {"tfkit_lab": True}}}


@pytest.fixture
def ask(marked_course, jp_fetch, jp_serverapp, jp_root_dir):  # noqa: F811
    """Asks a route of a course with graded answers and a regrade request; its answer, valid under the named parts."""
    course = shutil.copytree(marked_course, jp_root_dir / "mine")
    (course / "exchange" / "tfkit" / "outbound" / UNIT).mkdir(parents=True)
    for student in ("ada", "ben"):
        sent = course / "exchange" / "tfkit" / "inbound" / f"{student}+{UNIT}.regrade+2026-10-12 18:00:00 UTC+r1"
        sent.mkdir(parents=True)
        (sent / "request.json").write_text(json.dumps({"notebook": UNIT, "cell": TASK.cell, "reason": "It copies."}))
    jp_serverapp.web_app.settings["tfkit_desk"] = ThreadPoolExecutor(1)

    async def answer(route, part, **body):
        how = {"method": "POST", "body": json.dumps(body)} if body else {}
        found = json.loads((await jp_fetch("tfkit", *route.split("/"), **how)).body)
        whole = "POST " * bool(body) + "GET " * (not body) + route
        for wanted in (SCHEMA["properties"][whole], {"$ref": f"#/$defs/{part}"}):
            jsonschema.validate(found, {"$defs": SCHEMA["$defs"], **wanted})
        return found

    return answer


def place(of):
    return {**of._asdict(), "course": "mine"}


async def test_questions_marks_and_the_rubric(ask):
    (course,) = (await ask("marking", "courses"))["courses"]
    assert {one["kind"] for one in course["questions"]} == {"task", "code"} and course["requests"] == 2
    code = await ask("marking", "opened", **place(CODE))
    assert any(one["verdict"] for group in code["groups"] for one in group["answers"])
    task = await ask("marking", "opened", **place(TASK))
    item = task["rubric"][0]["id"]
    mark = {"seen": {"ada": 0, "ben": 0}, "score": 1, "own": "Well put.", "chosen": [item]}
    assert (await ask("marking/mark", "marked", **place(TASK), **mark))["done"] == ["ada", "ben"]
    assert (await ask("marking/mark", "marked", **place(TASK), **mark))["meanwhile"]
    change = {"change": item, "text": "It sees the next word.", "points": 1.5}
    assert (await ask("marking/rubric", "rescored", **place(TASK), **change))["done"] == ["ada", "ben"]
    new = await ask("marking/rubric", "added", **place(TASK), text="Short.", points=None)
    await ask("marking/rubric", "dropped", **place(TASK), drop=new["id"])
    await ask("marking/rubric", "rescored", **place(TASK), apply=True)
    history = (await ask("marking/history", "history", **place(TASK)))["history"]
    assert {one["kind"] for one in history} >= {"mark", "added", "changed", "dropped", "applied"}


async def test_requests_shares_and_extensions(ask):
    first, second = (await ask("marking/requests", "requests", course="mine"))["requests"]
    assert first["answer"] and second["answer"]
    answer = {"course": "mine", "sentence": "Yes.", "chosen": []}
    for one, more in ((first, {"accept": True, "score": 2}), (second, {"accept": False})):
        told = {"request": one["id"], "version": one["answer"]["version"], **more}
        assert (await ask("marking/requests", "outcome", **answer, **told))["done"] == [one["student"]]
    answered = (await ask("marking/requests", "requests", course="mine"))["requests"]
    assert {one["accepted"] for one in answered} == {True, False}
    assert (await ask("marking/history", "history", **place(TASK)))["history"]
    shared = await ask("marking/shares", "shares", **ASSIGNMENT, markers=["eve"], how="groups")
    assert shared["markers"]["eve"]
    listed = (await ask("marking", "courses"))["courses"][0]["questions"]
    assert any(one["markers"] for one in listed)
    given = await ask("marking/extensions", "extensions", **ASSIGNMENT, student="ada", hours=24)
    assert {"student": "ada", "hours": 24} in given["students"]
