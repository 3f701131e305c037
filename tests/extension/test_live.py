"""Who is stuck where, from the outcomes that the students' servers put into the shared folder."""

import json
import os
import pwd
from datetime import UTC, datetime, timedelta

import pytest

from tfkit_lab import course, live, sealed

NOW = datetime(2026, 10, 12, 10, 0, tzinfo=UTC)


def entry(status="failed", failed=3, since=20, at=1, why="own_position_hidden"):
    """An outcome whose first failing check was `since` minutes ago and whose last was `at` minutes ago."""
    told = [(NOW - timedelta(minutes=minutes)).isoformat() for minutes in (since, at)]
    return {"status": status, "misconception": why, "failed": failed, "since": told[0], "at": told[1], "score": 0}


def put(folder, student, token="t", **exercises):
    folder.mkdir(exist_ok=True)
    whole = {"student": student, "exercises": {name.replace("_", "."): one for name, one in exercises.items()}}
    (folder / f"{student}.{token}.progress.json").write_text(json.dumps(whole))


def one(folder, **more):
    return live.of_class(str(folder), now=NOW, **more)["exercises"]


def test_who_has_passed_tried_and_is_stuck_is_counted(tmp_path):
    put(tmp_path, "ada", masks_causal=entry("passed", 0))
    put(tmp_path, "ben", masks_causal=entry())
    put(tmp_path, "chen", masks_causal=entry(failed=2))  # too few failing checks
    put(tmp_path, "dora", masks_causal=entry(since=5))  # not for long
    put(tmp_path, "emil", masks_causal=entry(at=60, since=80))  # gone
    put(tmp_path, "fay", masks_causal=entry(why="no_diagonal"))
    (row,) = one(tmp_path)
    assert (row["passed"], row["tried"], row["stuck"]) == (1, 3, 2)
    assert row["commonest"] == [
        {"misconception": "own_position_hidden", "students": 3},
        {"misconception": "no_diagonal", "students": 1},
    ]
    found = live.of_class(str(tmp_path), now=NOW)
    assert (found["students"], found["active"]) == (6, 5)
    (row,) = one(tmp_path, checks=2, minutes=0)
    assert row["stuck"] == 4


def test_names_are_there_only_where_they_were_asked_for(tmp_path):
    put(tmp_path, "ben", masks_causal=entry(failed=5))
    assert "ben" not in json.dumps(one(tmp_path))
    (row,) = one(tmp_path, names=True)
    assert row["who"] == [{"student": "ben", "failed": 5, "minutes": 20, "misconception": "own_position_hidden"}]


def test_the_exercise_with_most_stuck_comes_first(tmp_path):
    put(tmp_path, "ada", a_b=entry("passed", 0), c_d=entry())
    assert [row["exercise"] for row in one(tmp_path)] == ["c.d", "a.b"]


@pytest.mark.parametrize(
    "text",
    ["", "[]", '{"student": "x"}', '{"student": "x", "exercises": [1]}', "[" * 5000,
     json.dumps({"student": "x", "exercises": {"a.b": {"status": "failed", "at": "2026-10-12T09:59:00"}}}),
     json.dumps({"student": "x", "exercises": {"a.b": entry() | {"failed": "many"}, "c.d": entry() | {"at": 3}}}),
     json.dumps({"student": "x", "exercises": {"a.b": entry() | {"misconception": ["x"]}}})],
)  # fmt: skip
def test_whatever_a_student_writes_the_class_is_shown(tmp_path, text):
    put(tmp_path, "ben", masks_causal=entry())
    (tmp_path / "x.y.progress.json").write_text(text)
    assert [row["exercise"] for row in one(tmp_path)] == ["masks.causal"]


def test_a_fifo_and_a_link_to_a_device_in_the_shared_folder_are_passed_over(tmp_path):
    """Reading the one waits for ever, reading the other never ends: both in the instructor's own server."""
    put(tmp_path, "ben", masks_causal=entry())
    os.mkfifo(tmp_path / "mallory.x.progress.json")
    (tmp_path / "mallory.y.progress.json").symlink_to("/dev/zero")
    os.mkfifo(tmp_path / "mallory.x.json")
    (tmp_path / "mallory.y.json").symlink_to("/dev/zero")
    assert [row["exercise"] for row in one(tmp_path)] == ["masks.causal"]
    assert sealed.of_class(tmp_path / "courses", str(tmp_path)) == []


def test_without_a_folder_there_is_nothing():
    assert live.of_class(None) == {"students": 0, "active": 0, "exercises": []}


def test_a_check_is_counted_where_the_class_can_see_it(tmp_path, monkeypatch):
    shared = tmp_path / "shared"
    shared.mkdir()
    monkeypatch.setenv(sealed.FOLDER, str(shared))
    monkeypatch.setenv("JUPYTERHUB_USER", "ada")
    failed = {
        "exercise": "masks.causal",
        "status": "failed",
        "score": 0,
        "max_score": 2,
        "misconception": "no_diagonal",
    }
    for status in ("failed", "not_graded", "failed"):
        course.record(tmp_path, failed | {"status": status})
    assert course.read_progress(tmp_path)["masks.causal"]["failed"] == 2
    (row,) = live.of_class(str(shared), checks=2, minutes=0)["exercises"]
    assert (row["stuck"], row["commonest"][0]["misconception"]) == (1, "no_diagonal")
    course.record(tmp_path, failed | {"status": "passed"})
    (row,) = live.of_class(str(shared), checks=1, minutes=0)["exercises"]
    assert (row["passed"], row["stuck"]) == (1, 0)
    course.record(tmp_path, failed)  # after passing, to see what the mistake does
    (row,) = live.of_class(str(shared), checks=1, minutes=0)["exercises"]
    assert (row["passed"], row["stuck"]) == (1, 0)
    assert len(list(shared.iterdir())) == 1  # one file for each student
    assert sealed.of_class(tmp_path, str(shared)) == []  # and it is no prediction


@pytest.fixture
def jp_server_config():
    return {"ServerApp": {"jpserver_extensions": {"tfkit_lab": True}}}


async def test_the_route_counts_and_names_only_on_request(jp_fetch, tmp_path, monkeypatch):
    monkeypatch.setenv(sealed.FOLDER, str(tmp_path / "shared"))
    now = datetime.now(UTC).isoformat()
    put(tmp_path / "shared", "ben", masks_causal=entry() | {"at": now, "since": now})
    plain = await jp_fetch("tfkit", "live", params={"minutes": "0"})
    assert json.loads(plain.body)["exercises"][0]["stuck"] == 1 and b"ben" not in plain.body
    named = await jp_fetch("tfkit", "live", params={"minutes": "0", "names": "1"})
    assert b"ben" in named.body
    with pytest.raises(Exception, match="400"):
        await jp_fetch("tfkit", "live", params={"minutes": "soon"})


def test_shared_folder_impersonation(tmp_path):
    """A file that names another student, or that another account wrote, is nobody's."""
    put(tmp_path, "mallory", masks_causal=entry())
    (tmp_path / "mallory.t.progress.json").replace(tmp_path / "eve.t.progress.json")
    other = next(one.pw_name for one in pwd.getpwall() if one.pw_uid != os.getuid())
    put(tmp_path, other, masks_causal=entry())
    assert live.of_class(str(tmp_path), now=NOW)["students"] == 0


def test_shared_folder_fifo(tmp_path):
    """A pipe was waited for, and a link to a device was read until the memory was full."""
    put(tmp_path, "ada", masks_causal=entry())
    os.mkfifo(tmp_path / "mallory.t.progress.json")
    (tmp_path / "eve.t.progress.json").symlink_to("/dev/zero")
    os.mkfifo(tmp_path / "mallory.t.json")
    (tmp_path / "eve.t.json").symlink_to("/dev/zero")
    assert live.of_class(str(tmp_path), now=NOW)["students"] == 1
    assert sealed.of_class(tmp_path / "none", str(tmp_path)) == []
