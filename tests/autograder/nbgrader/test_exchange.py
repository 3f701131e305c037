"""Collecting: whatever one student put into the exchange, all others' submissions arrive, and later ones replace it."""

from __future__ import annotations

import os
import shutil
from datetime import datetime

import nbformat
import pytest
from nbgrader.exchange import ExchangeError

from autograder.cluster.course import settings_of, working_in
from autograder.nbgrader import exchange
from autograder.nbgrader.exchange import Collect
from autograder.nbgrader.timestamps import read_timestamp

from .conftest import UNIT

WHEN = "2026-11-01 10:00:00.000000 UTC"


def put(course, student, when=WHEN):
    folder = course.root / "exchange/tfkit/inbound" / f"{student}+{UNIT}+{when}"
    folder.mkdir(parents=True)
    (folder / f"{UNIT}.ipynb").write_text(nbformat.writes(course.released()))
    (folder / "timestamp.txt").write_text(when)
    return folder


def collect(course, caplog):
    """Run it; what it logged."""
    app = settings_of(course.root)
    app.log.propagate = True
    app.coursedir.assignment_id, app.coursedir.student_id = UNIT, "*"
    caplog.clear()
    with working_in(course.root):
        Collect(coursedir=app.coursedir, parent=app, update=True, check_owner=False).start()
    return caplog.text


def test_strange_times_and_modes_stop_nothing_and_are_replaced_by_a_later_submission(own_course, caplog):
    put(own_course, "ada")
    (put(own_course, "ben") / "timestamp.txt").write_text("yesterday, about noon")
    os.mkfifo(put(own_course, "cleo", when="soon") / "pipe")
    (put(own_course, "dora") / "timestamp.txt").unlink()
    closed = put(own_course, "eve") / "sub"
    closed.mkdir()
    (closed / "x.txt").write_text("x")
    closed.chmod(0o500)
    for name in ("dora", "cleo"):
        when = 1_793_527_300 - 100 * (name == "cleo")  # cleo's has no other time
        (folder,) = (own_course.root / "exchange/tfkit/inbound").glob(f"{name}+*")
        os.utime(folder, (when, when))
    assert "cleo+02-masks+soon: its name holds no time" in collect(own_course, caplog)
    submitted = own_course.root / "submitted"
    assert sorted(path.name for path in submitted.iterdir()) == ["ada", "ben", "cleo", "dora", "eve"]
    assert not (submitted / "cleo" / UNIT / "pipe").exists()
    assert (submitted / "eve" / UNIT / "sub").stat().st_mode & 0o700 == 0o700
    (submitted / "ben" / UNIT / "mark").touch()
    collect(own_course, caplog)
    assert (submitted / "ben" / UNIT / "mark").exists()  # nothing new: not copied again
    put(own_course, "ben", when="2099-01-01 10:00:00.000000 UTC")
    collect(own_course, caplog)
    assert not (submitted / "ben" / UNIT / "mark").exists()
    assert (submitted / "ben" / UNIT / "timestamp.txt").read_text().startswith("2099")


def test_one_that_cannot_be_copied_is_named_and_the_others_are(own_course, caplog):
    for student in ("ada", "ben", "cleo"):
        put(own_course, student)
    folder = own_course.root / "exchange/tfkit/inbound" / f"ben+{UNIT}+{WHEN}"
    shutil.rmtree(folder)
    folder.write_text("a file instead of a folder")
    os.utime(folder, (1e9, 1e9))  # else it may still be being copied
    with pytest.raises(ExchangeError, match="not collected: ben"):
        collect(own_course, caplog)
    assert sorted(path.name for path in (own_course.root / "submitted").glob("*/*/*.ipynb")) == [f"{UNIT}.ipynb"] * 2


def test_a_full_disk_ends_it_and_leaves_no_half_of_a_submission(own_course, caplog, monkeypatch):
    put(own_course, "ada")

    def full(src, dst, **_):
        os.makedirs(dst)
        raise shutil.Error([(src, dst, "[Errno 28] No space left on device")])

    monkeypatch.setattr(exchange.shutil, "copytree", full)
    with pytest.raises(OSError, match="No space left"):
        collect(own_course, caplog)
    assert not (own_course.root / "submitted" / "ada" / UNIT).exists()


def test_a_link_in_place_of_a_submission_is_not_followed(own_course, caplog):
    put(own_course, "ada")
    link = own_course.root / "exchange/tfkit/inbound" / f"ben+{UNIT}+{WHEN}"
    link.symlink_to(own_course.root / "source" / UNIT)
    os.utime(link, (1e9, 1e9))  # the folder's: else it may still be being copied
    with pytest.raises(ExchangeError, match="not collected: ben"):
        collect(own_course, caplog)
    assert "it is a link or a file, not a folder" in caplog.text
    assert [path.parts[-3] for path in (own_course.root / "submitted").glob("*/*/*.ipynb")] == ["ada"]
    assert os.listdir(own_course.root / "submitted" / "ben") == []


def test_a_later_submission_that_cannot_be_collected_leaves_the_earlier_one(own_course, caplog):
    put(own_course, "ada")
    collect(own_course, caplog)
    folder = put(own_course, "ada", when="2099-01-01 10:00:00.000000 UTC")
    with (folder / "large").open("wb") as file:
        file.truncate(200 << 20)  # the limit is 100 MB
    put(own_course, "ben")
    with pytest.raises(ExchangeError, match="not collected: ada") as error:
        collect(own_course, caplog)
    assert error.value.students == ["ada"] and "max_dir_size" in caplog.text
    submitted = own_course.root / "submitted"
    assert (submitted / "ada" / UNIT / "timestamp.txt").read_text() == WHEN
    assert os.listdir(submitted / "ada") == [UNIT] and (submitted / "ben" / UNIT / f"{UNIT}.ipynb").exists()


def test_a_collected_folder_that_may_not_be_changed_is_replaced(own_course, caplog, monkeypatch):
    put(own_course, "ada")
    collect(own_course, caplog)
    place = own_course.root / "submitted" / "ada" / UNIT
    place.chmod(0o555)  # as a copy of an older version has it
    later = "2099-01-01 10:00:00.000000 UTC"
    put(own_course, "ada", when=later)
    rmtree = shutil.rmtree

    def refuse(path, *rest, **how):  # the superuser, who runs tests in CI, may delete everything
        if not os.stat(path).st_mode & 0o200:
            raise PermissionError(13, "Permission denied", path)
        rmtree(path, *rest, **how)

    monkeypatch.setattr(shutil, "rmtree", refuse)
    collect(own_course, caplog)
    assert (place / "timestamp.txt").read_text() == later


def test_files_that_nobody_may_look_at_cost_themselves_alone(own_course, caplog, monkeypatch):
    folder = put(own_course, "ada") / "closed"
    folder.mkdir()
    (folder / "x.txt").write_text("x")
    refuse_what_is_below(folder, monkeypatch)
    assert "closed was not collected" in collect(own_course, caplog)
    place = own_course.root / "submitted" / "ada" / UNIT
    assert (place / f"{UNIT}.ipynb").exists() and not (place / "closed").exists()


def refuse_what_is_below(folder, monkeypatch):
    """As for a folder of mode 0644, which can be listed only; the superuser, who runs tests in CI, may do anything."""
    for name in ("stat", "lstat"):
        allowed = getattr(os, name)

        def look(path, *rest, allowed=allowed, **how):
            if not isinstance(path, int) and f"/{folder.name}/" in os.fspath(path):
                raise PermissionError(13, "Permission denied", path)
            return allowed(path, *rest, **how)

        monkeypatch.setattr(os, name, look)


def test_a_deleted_time_stamp_is_that_of_the_folders_name(own_course, caplog):
    put(own_course, "ada")
    collect(own_course, caplog)
    folder = put(own_course, "ada", when="2099-01-01 10:00:00.000000 UTC")
    (folder / "timestamp.txt").unlink()
    os.utime(folder, (1e9, 1e9))  # else it may still be being copied
    collect(own_course, caplog)
    place = own_course.root / "submitted" / "ada" / UNIT
    assert read_timestamp(place) == datetime(2099, 1, 1, 10)
    assert place.stat().st_mtime == 1e9
