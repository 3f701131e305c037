"""The route by which a student asks for another look at a question."""

import json

import pytest
from tornado.httpclient import HTTPClientError


@pytest.fixture
def jp_server_config():
    return {"ServerApp": {"jpserver_extensions": {"tfkit_lab": True}}}


async def post(jp_fetch, body):
    return await jp_fetch("tfkit", "regrade", method="POST", body=json.dumps(body))


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({}, "the body must be"),
        ({"path": "a.ipynb", "question": 3, "reason": "x"}, "the body must be"),
        ({"path": "../a.ipynb", "question": "x", "reason": "x"}, "there is no notebook"),
        ({"path": "mine.ipynb", "question": "masks.no", "reason": "-x"}, "it has task-why"),
    ],
)
async def test_what_cannot_be_asked_is_said(jp_fetch, jp_root_dir, body, words):
    cell = {"cell_type": "markdown", "source": "", "metadata": {"nbgrader": {"grade_id": "task-why", "task": True}}}
    (jp_root_dir / "mine.ipynb").write_text(json.dumps({"cells": [cell]}))
    with pytest.raises(HTTPClientError) as error:
        await post(jp_fetch, body)
    assert error.value.code == 400 and words in json.loads(error.value.response.body)["message"]
