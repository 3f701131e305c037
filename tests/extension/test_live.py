"""Who is stuck where, from the outcomes that the students' servers put into the shared folder."""

import json
import os
import pwd
from datetime import UTC, datetime, timedelta

import pytest

from autograder.exercises import registry
from tfkit_lab import course, live, sealed, wording

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
    put(tmp_path, "ada", masks_causal=entry("passed", 0, at=9), masks_padding=entry(failed=1, at=2))
    hidden = live.of_class(str(tmp_path), now=NOW)
    assert "ben" not in json.dumps(hidden) and [who["student"] for who in hidden["people"]] == [None, None]
    ben, ada = live.of_class(str(tmp_path), now=NOW, names=True)["people"]
    assert ben == {"student": "ben", "exercise": "masks.causal", "status": "failed", "failed": 5, "minutes": 20,
                   "ago": 1, "stuck": True, "misconceptions": ["own_position_hidden"]}  # fmt: skip
    assert (ada["student"], ada["exercise"], ada["stuck"]) == ("ada", "masks.padding", False)  # what was checked last
    here = {row["exercise"]: row["here"] for row in hidden["exercises"]}
    assert here == {"masks.causal": 1, "masks.padding": 1} and hidden["stuck"] == 1


def test_the_exercise_with_most_stuck_comes_first(tmp_path):
    put(tmp_path, "ada", masks_causal=entry("passed", 0), masks_padding=entry())
    assert [row["exercise"] for row in one(tmp_path)] == ["masks.padding", "masks.causal"]


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
    assert live.of_class(None) == {"students": 0, "active": 0, "stuck": 0, "exercises": [], "people": []}


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


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to another account")
def test_shared_folder_flood(tmp_path, monkeypatch):
    """The latest files counted, and the first ones of predictions: who wrote many hid everybody else's."""
    monkeypatch.setattr(sealed, "MAX_FILES", 3)
    put(tmp_path, "zoe", masks_causal=entry())
    (tmp_path / "zoe.t.json").write_text("{}")
    os.utime(tmp_path / "zoe.t.progress.json", (1, 1))
    for number in range(5):
        for suffix in ("json", "progress.json"):
            path = tmp_path / f"a{number}.t.{suffix}"
            path.write_text("{}")
            os.chown(path, 65534, -1)
    assert live.of_class(str(tmp_path), now=NOW)["students"] == 1
    assert "zoe.t.json" in {path.name for _, path in sealed._files(tmp_path / "none", str(tmp_path))}


def test_exercises_that_no_course_has_are_not_shown(tmp_path):
    """Nine thousand invented ones, all stuck, stood before those of the class."""
    put(tmp_path, "ada", masks_causal=entry("passed", 0))
    put(tmp_path, "mallory", **{f"buy_{number}": entry(failed=99) for number in range(5)})
    assert [row["exercise"] for row in one(tmp_path)] == ["masks.causal"]


def test_where_exercises_are_installed_twice_none_is_shown_until_they_are_in_order_again(tmp_path, monkeypatch):
    def refuse():
        raise registry.TwoExercises("two exercises are called a.b")

    put(tmp_path, "ada", masks_causal=entry("passed", 0))
    wording._index.cache_clear()
    with monkeypatch.context() as now:
        now.setattr(wording, "exercises", refuse)
        assert one(tmp_path) == []
    assert [row["exercise"] for row in one(tmp_path)] == ["masks.causal"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to another account")
def test_one_account_is_one_student_where_the_machine_has_accounts(tmp_path):
    """An account wrote files under thirty names that belong to nobody, and was counted thirty times."""
    ada, ben, mallory = [one for one in pwd.getpwall() if one.pw_uid and "." not in one.pw_name][:3]
    written = {ada.pw_name: ada, ben.pw_name: ben} | {f"invented{number}": mallory for number in range(4)}
    question = {"kind": "number", "label": "I"}
    for name, account in written.items():
        put(tmp_path, name, masks_causal=entry())
        which = "made.up" if account is mallory else "03.attentions"
        made = {which: {"questions": [question], "answers": [1], "at": ""}}
        (tmp_path / f"{name}.t.json").write_text(json.dumps({"student": name, "predictions": made}))
        for suffix in ("json", "progress.json"):
            os.chown(tmp_path / f"{name}.t.{suffix}", account.pw_uid, -1)
    found = live.of_class(str(tmp_path), now=NOW, names=True)
    assert found["students"] == 3 and {one["student"] for one in found["people"]} == {
        one.pw_name for one in (ada, ben, mallory)
    }
    assert [one["name"] for one in sealed.of_class(tmp_path / "none", str(tmp_path))] == ["03.attentions"]


def test_where_users_have_one_account_in_common_each_name_is_a_student(tmp_path):
    for name in ("ada", "ben", pwd.getpwuid(os.getuid()).pw_name):
        put(tmp_path, name, masks_causal=entry())
    assert live.of_class(str(tmp_path), now=NOW)["students"] == 3
