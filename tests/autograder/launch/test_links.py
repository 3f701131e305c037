"""Links that open a notebook: what they hold comes back out of them, and a launch follows no other page."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from urllib.parse import parse_qs, urlsplit
from xml.etree import ElementTree

import pytest

from autograder import cli
from autograder.launch import links

HUB = "https://hub.example.edu"


@pytest.fixture
def course(tmp_path: Path) -> Path:
    released = tmp_path / "release/02-masks/02-masks.ipynb"
    released.parent.mkdir(parents=True)
    released.touch()
    table = '[repository]\nurl = "https://github.com/OWNER/REPO"\nbranch = "term/1"\n'
    (tmp_path / "course.toml").write_text(table, encoding="utf-8")
    return tmp_path


def run(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str]:
    with pytest.raises(SystemExit) as ended:
        cli.main(["link", *map(str, words)])
    said = capsys.readouterr()
    return int(ended.value.code or 0), said.out + said.err


def test_a_hub_fetches_the_repository_and_opens_the_notebook(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, said = run(capsys, course, "02-masks", "--hub", f"{HUB}/")
    link = urlsplit(said.strip())
    assert code == 0 and (link.netloc, link.path) == ("hub.example.edu", "/hub/user-redirect/git-pull")
    assert parse_qs(link.query) == {
        "repo": ["https://github.com/OWNER/REPO"], "branch": ["term/1"],
        "urlpath": ["lab/tree/REPO/release/02-masks/02-masks.ipynb"],
    }  # fmt: skip


def test_an_lms_gets_an_item_whose_launch_opens_the_notebook(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, said = run(capsys, course, "02-masks", "--lti", HUB)
    item = json.loads(said[said.index("{") :])
    assert code == 0 and item["type"] == "ltiResourceLink" and item["url"] == f"{HUB}/hub/lti/launch"
    assert item["custom"]["assignment"] == "02-masks" and f"  next={item['custom']['next']}\n" in said
    assert links.launch_target(item["custom"]["next"]) == links.links(course, "02-masks").pull_query()


@pytest.mark.parametrize(
    "target",
    [None, 7, "", "git-pull", "https://evil.example/git-pull?x=1", "//evil", "../../hub/logout", "git-pull/../x?a=b",
     "git-pull?a=b\r\nLocation: x", "git-pull?a=b#x", "lab/tree/x", "git-pull?a=b/../../c", "git-pull?a=\\x"],
)  # fmt: skip
def test_a_launch_follows_nothing_else(target: object) -> None:
    assert links.launch_target(target) == "lab"


def test_a_code_for_a_slide_is_a_picture_that_scales(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("segno", reason="segno is not installed: pip install segno")
    words = (course, "02-masks", "--tab", "https://course.example.edu/site/", "--qr", course / "02.svg")
    code, said = run(capsys, *words)
    link = "https://course.example.edu/site/lab/index.html?path=02-masks.ipynb"
    assert code == 0 and said.splitlines()[0] == link
    picture = ElementTree.parse(course / "02.svg").getroot()
    assert picture.tag.endswith("svg") and link in "".join(picture.itertext())
    assert picture.get("viewBox") and not picture.get("width")  # it takes whatever room a slide gives it
    assert run(capsys, *words)[0] == 2  # it is there already
    assert run(capsys, course, "02-masks", "--tab", HUB, "--qr", course / "02.png")[0] == 2


def test_what_is_missing_is_told_in_a_line(course: Path, capsys: pytest.CaptureFixture[str], monkeypatch) -> None:
    assert "has not released '09-x' (released: 02-masks)" in run(capsys, course, "09-x", "--hub", HUB)[1]
    assert "--hub hub is not an address such as https://" in run(capsys, course, "02-masks", "--hub", "hub")[1]
    assert "an LTI launch begins in the LMS" in run(capsys, course, "02-masks", "--lti", HUB, "--qr", "x.svg")[1]
    monkeypatch.setitem(sys.modules, "segno", None)
    assert "needs segno: pip install" in run(capsys, course, "02-masks", "--hub", HUB, "--qr", course / "x.svg")[1]
    (course / "course.toml").unlink()
    assert "has no [repository]: nbgitpuller" in run(capsys, course, "02-masks", "--hub", HUB)[1]
