"""The route of the hunt button."""

import json

import pytest
from tornado.httpclient import HTTPClientError


@pytest.fixture
def jp_server_config():
    return {"ServerApp": {"jpserver_extensions": {"tfkit_lab": True}}}


async def post(jp_fetch, body, **params):
    return json.loads((await jp_fetch("tfkit", "hunt", method="POST", body=json.dumps(body), params=params)).body)


async def test_a_notebook_is_written_for_an_exercise_and_for_a_unit(jp_fetch, jp_root_dir):
    assert await post(jp_fetch, {"hunt": "masks.causal"}) == {"path": "hunts/masks.causal-1.ipynb"}
    assert "Bug hunt" in (jp_root_dir / "hunts" / "masks.causal-1.ipynb").read_text()
    found = await post(jp_fetch, {"unit": "02-masks"}, language="fr_FR")
    assert found["path"].startswith("hunts/masks.") and found["path"] != "hunts/masks.causal-2.ipynb"
    assert "Chasse aux fautes" in (jp_root_dir / found["path"]).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ([], "the body must be"),
        ({"unit": 3}, "the body must be"),
        ({"hunt": ["masks.causal"]}, "the body must be"),
        ({"hunt": "../../etc"}, "no exercise is called"),
        ({"hunt": "page.../x"}, "no page"),
        ({"unit": "../02-masks"}, "'../02-masks'"),
    ],
)
async def test_what_cannot_be_hunted_is_said(jp_fetch, jp_root_dir, body, words):
    with pytest.raises(HTTPClientError) as error:
        await post(jp_fetch, body)
    assert error.value.code == 400 and words in json.loads(error.value.response.body)["message"]
    assert not (jp_root_dir / "hunts").exists()


async def test_a_folder_that_cannot_be_written_is_told(jp_fetch, jp_root_dir):
    (jp_root_dir / "hunts").write_text("a file in its place")
    with pytest.raises(HTTPClientError) as error:
        await post(jp_fetch, {"hunt": "masks.causal"})
    assert error.value.code == 500 and "could not be written" in json.loads(error.value.response.body)["message"]
