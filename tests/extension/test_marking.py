"""The marking page's routes: what they ask of the desk, and what they refuse."""

import getpass
import json
from concurrent.futures import ThreadPoolExecutor

import pytest
from tornado.httpclient import HTTPClientError

from autograder.marking import desk, regrades, sharing
from autograder.marking.store import BadMark, MarkedCell
from tfkit_lab.marking import HANDLERS

OF = {"course": "mine", "assignment": "02-masks", "notebook": "02-masks", "cell": "task-why"}
DESK = {
    desk: ("overview", "question", "set_marks", "add_item", "change_item", "remove_item", "apply_rubric", "history",
           "extend", "extensions"),
    regrades: ("count_waiting", "list_requests", "accept", "decline"),
    sharing: ("share",),
}  # fmt: skip
QUESTION = MarkedCell("02-masks", "02-masks", "task-why")


@pytest.fixture
def jp_server_config():
    return {"ServerApp": {"jpserver_extensions": {"tfkit_lab": True}}}


@pytest.fixture
def asked(monkeypatch, jp_serverapp, jp_root_dir):
    """What the desk is asked; it answers in this process, with the name of what was asked."""
    calls = []
    for module, names in DESK.items():
        for name in names:
            monkeypatch.setattr(module, name, lambda *args, name=name: calls.append((name, *args)) or name)
    jp_serverapp.web_app.settings["tfkit_desk"] = ThreadPoolExecutor(1)
    for folder in ("source", "autograded"):
        (jp_root_dir / "mine" / folder).mkdir(parents=True)
    return calls


async def post(jp_fetch, route, body):
    response = await jp_fetch("tfkit", route, method="POST", body=json.dumps(body))
    return json.loads(response.body)


async def test_the_questions_of_every_course(jp_fetch, asked, jp_root_dir):
    found = json.loads((await jp_fetch("tfkit", "marking")).body)
    assert found["courses"] == [{"course": "mine", "questions": "overview", "requests": "count_waiting"}]
    root = (jp_root_dir / "mine").resolve()
    assert asked == [("overview", root), ("count_waiting", root)]


async def test_a_course_that_cannot_be_read_is_there_with_its_reason(jp_fetch, asked, monkeypatch):
    def refuse(root):
        raise BadMark("no gradebook")

    monkeypatch.setattr(desk, "overview", refuse)
    (one,) = json.loads((await jp_fetch("tfkit", "marking")).body)["courses"]
    assert one == {"course": "mine", "questions": [], "requests": 0, "error": "no gradebook"}


async def test_what_each_route_asks_of_the_desk(jp_fetch, asked, jp_root_dir):
    root, author = (jp_root_dir / "mine").resolve(), getpass.getuser()
    mark = {"seen": {"ada": 3}, "score": 1.5, "own": "Well put.", "chosen": [1]}
    more = {"course": "mine", "assignment": "02-masks", "student": "ada", "hours": 24}
    answer = {"course": "mine", "request": 4, "version": 7, "sentence": "Yes."}
    yes, no = {"accept": True, "score": 2, "chosen": [1]}, {"accept": False}
    shares = {"course": "mine", "assignment": "02-masks", "markers": ["eve", "otto"], "how": "groups"}
    for route, body, said, call in (
        ("marking", OF, "question", ("question", root, QUESTION)),
        ("marking/mark", OF | mark, "set_marks",
         ("set_marks", root, QUESTION, {"ada": 3}, 1.5, "Well put.", [1], author)),
        ("marking/rubric", OF | {"text": "Short.", "points": 1}, {"id": "add_item"},
         ("add_item", root, QUESTION, "Short.", 1.0, author)),
        ("marking/rubric", OF | {"change": 4, "text": "Short.", "points": None}, "change_item",
         ("change_item", root, QUESTION, 4, "Short.", None, author)),
        ("marking/rubric", OF | {"drop": 4}, {}, ("remove_item", root, QUESTION, 4, author)),
        ("marking/rubric", OF | {"apply": True}, "apply_rubric", ("apply_rubric", root, QUESTION, author)),
        ("marking/history", OF, {"history": "history"}, ("history", root, QUESTION)),
        ("marking/requests", {"course": "mine"}, {"requests": "list_requests"}, ("list_requests", root)),
        ("marking/requests", answer | yes, "accept", ("accept", root, 4, 7, 2.0, "Yes.", [1], author)),
        ("marking/requests", answer | no, "decline", ("decline", root, 4, 7, "Yes.", author)),
        ("marking/shares", shares, {"markers": "share"},
         ("share", root, "02-masks", ["eve", "otto"], "groups", author)),
    ):  # fmt: skip
        asked.clear()
        assert await post(jp_fetch, route, body) == said
        assert asked == [call]
    asked.clear()
    assert await post(jp_fetch, "marking/extensions", more) == {"students": "extensions"}
    assert asked == [("extend", root, "02-masks", "ada", 24.0), ("extensions", root, "02-masks")]


@pytest.mark.parametrize(
    ("route", "body"),
    [
        ("marking", OF | {"course": ".."}),
        ("marking", OF | {"notebook": "../../etc"}),
        ("marking", OF | {"cell": ""}),
        ("marking", {}),
        ("marking", []),
        ("marking/mark", OF | {"seen": {"ada": 0}, "score": "nan", "own": "", "chosen": []}),
        ("marking/mark", OF | {"seen": [], "score": 1, "own": "", "chosen": []}),
        ("marking/rubric", OF | {"points": "many", "text": "x"}),
        ("marking/rubric", OF),
        ("marking/requests", {"course": "mine", "request": "x"}),
        ("marking/requests", {"course": "mine", "request": 1, "version": 0, "sentence": "", "accept": True}),
        ("marking/shares", {"course": "mine", "assignment": "02-masks"}),
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
        raise BadMark("the mark must be between 0 and 2, got 3")

    monkeypatch.setattr(desk, "set_marks", refuse)
    mark = {"seen": {"ada": 0}, "score": 3, "own": "", "chosen": []}
    with pytest.raises(HTTPClientError) as error:
        await post(jp_fetch, "marking/mark", OF | mark)
    assert json.loads(error.value.response.body)["message"] == "the mark must be between 0 and 2, got 3"


@pytest.mark.parametrize("route", HANDLERS)
async def test_a_stranger_gets_nothing(jp_fetch, asked, route):
    for method, more in (("GET", {}), ("POST", {"body": "{}"})):
        with pytest.raises(HTTPClientError) as error:
            await jp_fetch("tfkit", *route.split("/"), method=method, headers={"Authorization": ""}, **more)
        assert error.value.code in (403, 405)
    assert asked == []
