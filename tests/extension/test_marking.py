"""The marking page's routes: what they ask of the desk, and what they refuse."""

import getpass
import json
from concurrent.futures import ThreadPoolExecutor

import pytest
from tornado.httpclient import HTTPClientError

from autograder.marking import desk
from autograder.marking.store import MarkedCell
from tfkit_lab.marking import HANDLERS

OF = {"course": "mine", "assignment": "02-masks", "notebook": "02-masks", "cell": "task-why"}
QUESTION = MarkedCell("02-masks", "02-masks", "task-why")


@pytest.fixture
def jp_server_config():
    return {"ServerApp": {"jpserver_extensions": {"tfkit_lab": True}}}


@pytest.fixture
def asked(monkeypatch, jp_serverapp, jp_root_dir):
    """What the desk is asked; it answers in this process, with the name of what was asked."""
    calls = []
    for name in ("overview", "question", "give", "add_comment", "drop_comment", "extend", "extensions"):
        monkeypatch.setattr(desk, name, lambda *args, name=name: calls.append((name, *args)) or name)
    jp_serverapp.web_app.settings["tfkit_desk"] = ThreadPoolExecutor(1)
    for folder in ("source", "autograded"):
        (jp_root_dir / "mine" / folder).mkdir(parents=True)
    return calls


async def post(jp_fetch, route, body):
    response = await jp_fetch("tfkit", route, method="POST", body=json.dumps(body))
    return json.loads(response.body)


async def test_the_questions_of_every_course(jp_fetch, asked, jp_root_dir):
    found = json.loads((await jp_fetch("tfkit", "marking")).body)
    assert found["courses"] == [{"course": "mine", "questions": "overview"}]
    assert asked == [("overview", (jp_root_dir / "mine").resolve())]


async def test_a_course_that_cannot_be_read_is_there_with_its_reason(jp_fetch, asked, monkeypatch):
    def refuse(root):
        raise desk.BadMark("no gradebook")

    monkeypatch.setattr(desk, "overview", refuse)
    (one,) = json.loads((await jp_fetch("tfkit", "marking")).body)["courses"]
    assert one == {"course": "mine", "questions": [], "error": "no gradebook"}


async def test_one_question_a_mark_a_comment_and_an_extension(jp_fetch, asked, jp_root_dir):
    root = (jp_root_dir / "mine").resolve()
    assert await post(jp_fetch, "marking", OF) == "question"
    mark = {"seen": {"ada": 3}, "score": 1.5, "comment": "Well put.", "chosen": [1]}
    assert await post(jp_fetch, "marking/mark", OF | mark) == "give"
    assert await post(jp_fetch, "marking/bank", OF | {"text": "Short.", "points": 1}) == {"id": "add_comment"}
    assert await post(jp_fetch, "marking/bank", OF | {"drop": 4}) == {}
    more = {"course": "mine", "assignment": "02-masks", "student": "ada", "hours": 24}
    assert await post(jp_fetch, "marking/extensions", more) == {"students": "extensions"}
    by = getpass.getuser()
    assert asked == [
        ("question", root, QUESTION),
        ("give", root, QUESTION, {"ada": 3}, 1.5, "Well put.", [1], by),
        ("add_comment", root, QUESTION, "Short.", 1.0, by),
        ("drop_comment", root, QUESTION, 4),
        ("extend", root, "02-masks", "ada", 24.0),
        ("extensions", root, "02-masks"),
    ]


@pytest.mark.parametrize(
    ("route", "body"),
    [
        ("marking", OF | {"course": ".."}),
        ("marking", OF | {"notebook": "../../etc"}),
        ("marking", OF | {"cell": ""}),
        ("marking", {}),
        ("marking", []),
        ("marking/mark", OF | {"seen": {"ada": 0}, "score": "nan", "comment": "", "chosen": []}),
        ("marking/mark", OF | {"seen": [], "score": 1, "comment": "", "chosen": []}),
        ("marking/bank", OF | {"points": "many", "text": "x"}),
        ("marking/extensions", {"course": "mine", "assignment": "02-masks", "student": "ada", "hours": "soon"}),
    ],
)
async def test_what_is_refused_reaches_no_gradebook(jp_fetch, asked, route, body):
    with pytest.raises(HTTPClientError) as error:
        await post(jp_fetch, route, body)
    assert error.value.code == 400
    assert json.loads(error.value.response.body)["message"]
    assert asked == []


async def test_the_desks_refusal_is_said(jp_fetch, asked, monkeypatch):
    def refuse(*_):
        raise desk.BadMark("a mark here is from 0 to 2; got 3")

    monkeypatch.setattr(desk, "give", refuse)
    mark = {"seen": {"ada": 0}, "score": 3, "comment": "", "chosen": []}
    with pytest.raises(HTTPClientError) as error:
        await post(jp_fetch, "marking/mark", OF | mark)
    assert json.loads(error.value.response.body)["message"] == "a mark here is from 0 to 2; got 3"


@pytest.mark.parametrize("route", HANDLERS)
async def test_a_stranger_gets_nothing(jp_fetch, asked, route):
    for method, more in (("GET", {}), ("POST", {"body": "{}"})):
        with pytest.raises(HTTPClientError) as error:
            await jp_fetch("tfkit", *route.split("/"), method=method, headers={"Authorization": ""}, **more)
        assert error.value.code in (403, 405)
    assert asked == []
