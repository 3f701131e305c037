"""A course is the same after `backup` and `restore`; what is not a whole backup of this release leaves no course."""

from __future__ import annotations

import json
import os
import pwd
import shutil
import sqlite3
import stat
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from autograder import cli
from autograder.cluster import scores
from autograder.cluster.bundle import Key
from autograder.cluster.job import GradingRecord
from autograder.cluster.records import Records
from autograder.maintenance import archive as archives
from autograder.maintenance.archive import MANIFEST, BadBackup
from autograder.maintenance.backup import backup, restore
from autograder.marking.store import MarkingStore
from tfkit_course.formats import BACKUP, RECORDS

from ..marking.graded import TASK, UNIT

PRIVATE = 0o600


@pytest.fixture(scope="session")
def course_in_term(marked_course: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With records, marks, a submission, an empty folder, and files that no backup holds."""
    root = shutil.copytree(marked_course, tmp_path_factory.mktemp("term") / "course")
    with Records(root) as records:
        round = records.begin_round(UNIT, regrade=False)
        records.add(round, GradingRecord(Key("ada", UNIT, "s" * 64, "c" * 64), {UNIT: "{}"}, [], 2.0, "here:1"))
    with MarkingStore(root) as marks:
        marks.add_mark(TASK, "ada", 1.5, "Good.", "grace")
    handed_in = root / "submitted/ada" / UNIT
    handed_in.mkdir(parents=True)
    (handed_in / f"{UNIT}.ipynb").write_text("{}", encoding="utf-8")
    os.utime(handed_in / f"{UNIT}.ipynb", ns=(10**18, 10**18 + 1))
    waits = root / "exchange/tfkit/inbound" / f"ada+{UNIT}+2026-11-01 10:00:00.000000 UTC"  # as nbgrader calls it
    waits.mkdir(parents=True)
    for name in (b"plain", b"of another system\\s", b"caf\xe9 \n \x1b[31m"):  # as a student may call it
        Path(os.fsdecode(os.fsencode(waits) + b"/" + name)).write_bytes(name)
    (root / "predictions").mkdir()
    (root / "predictions").chmod(0o1733)
    (root / ".git").mkdir()
    (root / ".git/HEAD").write_text("ref", encoding="utf-8")
    (root / "submitted/ada/link").symlink_to("/etc/passwd")
    return root


@pytest.fixture
def course(course_in_term: Path, tmp_path: Path) -> Path:
    return shutil.copytree(course_in_term, tmp_path / "course", symlinks=True)


@pytest.fixture(scope="session")
def stored(course_in_term: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its backup."""
    backup(course_in_term, made := tmp_path_factory.mktemp("stored") / "course.zip")
    return made


@pytest.fixture
def archive(stored: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    return Path(shutil.copy(stored, tmp_path))


def rewrite(archive: Path, change, drop: str = "", **more: str) -> Path:
    """A copy of the archive with another manifest, without a file, and with more files."""
    made = archive.with_name("changed.zip")
    with zipfile.ZipFile(archive) as old, zipfile.ZipFile(made, "w") as new:
        for name in old.namelist():
            text = old.read(name)
            if name == MANIFEST:
                manifest = json.loads(text)
                change(manifest)
                text = json.dumps(manifest).encode()
            if name != drop:
                new.writestr(name, text)
        for name, content in more.items():
            new.writestr(name, content)
    return made


def totals(root: Path) -> list[tuple]:
    return [(row.student, row.total, row.by_hand, row.waits) for row in scores.read(root, UNIT).rows]


def tree(root: Path) -> dict[str, tuple[int, int]]:
    """Path → mode and, of files, time."""
    return {
        path.relative_to(root).as_posix(): (path.stat().st_mode, path.is_file() and path.stat().st_mtime_ns)
        for path in sorted(root.rglob("*"))
        if path.name not in ("link", "records.lock") and ".git" not in path.parts
    }  # fmt: skip


def test_a_path_that_no_program_can_open_costs_nobody_else_the_backup(course: Path, tmp_path: Path) -> None:
    """A student makes it in the inbound folder, one step after the other, as no path of the system is that long."""
    inner, here = "d" * 250, os.open(course / "exchange/tfkit/inbound", os.O_RDONLY)
    for _ in range(20):
        os.mkdir(inner, dir_fd=here)
        here, left = os.open(inner, os.O_RDONLY, dir_fd=here), here
        os.close(left)
    os.close(here)
    found = backup(course, tmp_path / "course.zip")
    assert [one for one in found.remarks if one.startswith("1 paths of more than 1000 bytes")]
    restore(tmp_path / "course.zip", tmp_path / ("a-longer-name" * 10))
    shutil.rmtree(course)


@contextmanager
def account(uid: int) -> Iterator[None]:
    os.seteuid(uid)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another account")
@pytest.mark.parametrize("mode", [0o700, 0o744])
def test_what_a_student_keeps_closed_costs_nobody_else_the_backup(mode: int, stored: Path) -> None:
    nobody = pwd.getpwnam("nobody").pw_uid
    with tempfile.TemporaryDirectory() as outside:
        root = Path(outside, "course")
        folder = root / "exchange/eve+02"
        folder.mkdir(parents=True)
        (root / "nbgrader_config.py").write_text("c = get_config()\n")
        (folder / "work.ipynb").write_text("{}")
        for path in (Path(outside), root, root / "exchange"):
            os.chown(path, nobody, -1)
        folder.chmod(mode)
        with account(nobody):
            (said,) = backup(root, Path(outside, "one.zip")).remarks
        assert said == "1 paths that other accounts let nobody read are not in it, the first is exchange/eve+02"
        folder.chmod(0)
        os.chown(folder, nobody, -1)
        with account(nobody), pytest.raises(PermissionError):  # the user's own
            backup(root, Path(outside, "two.zip"))


def test_a_restored_course_has_the_grades_the_marks_and_the_key(course: Path, tmp_path: Path, capsys) -> None:
    before, archive, copy = totals(course), tmp_path / "course.zip", tmp_path / "deeper/copy"
    wanted = tree(course)
    with pytest.raises(SystemExit) as ended:
        cli.main(["backup", str(course), str(archive)])
    assert ended.value.code == 0
    said = capsys.readouterr().out
    assert "! 1 links or special files are not in it" in said and "it holds the course's key" in said
    assert stat.S_IMODE(archive.stat().st_mode) == PRIVATE
    with pytest.raises(SystemExit) as ended:
        cli.main(["restore", str(archive), str(copy)])
    assert ended.value.code == 0 and "as it was on 20" in capsys.readouterr().out
    assert totals(copy) == before and any(total for _, total, *_ in before)
    assert {"submitted/ada/02-masks/02-masks.ipynb", "exchange"} <= tree(copy).keys() and not (copy / ".git").exists()
    assert tree(copy) == wanted and stat.S_IMODE((copy / "course.key").stat().st_mode) == PRIVATE
    assert (copy / "course.key").read_bytes() == (course / "course.key").read_bytes()
    with Records(copy) as records, MarkingStore(copy) as marks:
        assert records.open_round(UNIT) is not None and marks.marks(TASK)["ada"].score == 1.5
    assert sorted(path.name for path in tmp_path.iterdir()) == ["course", "course.zip", "deeper"]
    assert [path.name for path in copy.parent.iterdir()] == ["copy"]


def test_a_database_in_use_is_copied_as_its_last_commit_left_it(course: Path, tmp_path: Path) -> None:
    with sqlite3.connect(course / "records.db", isolation_level=None) as busy:
        busy.execute("pragma journal_mode = wal")
        busy.execute("insert into rounds (assignment, regrade, started) values ('stored', 0, '')")  # in the -wal file
        busy.execute("begin immediate")
        busy.execute("insert into rounds (assignment, regrade, started) values ('not yet', 0, '')")
        backup(course, tmp_path / "course.zip")
        busy.execute("rollback")
    restore(tmp_path / "course.zip", tmp_path / "copy")
    assert not list((tmp_path / "copy").glob("records.db-*"))
    with sqlite3.connect(tmp_path / "copy/records.db") as db:
        assert [row[0] for row in db.execute("select assignment from rounds")] == [UNIT, "stored"]


def test_a_damaged_database_is_named_and_no_backup_is_written(course: Path, tmp_path: Path, capsys) -> None:
    content = bytearray((course / "gradebook.db").read_bytes())
    content[4096:8192] = os.urandom(4096)
    (course / "gradebook.db").write_bytes(content)
    with pytest.raises(SystemExit) as ended:
        cli.main(["backup", str(course), str(tmp_path / "course.zip")])
    said = capsys.readouterr().err
    assert ended.value.code == 2 and said.count("\n") == 1 and "gradebook.db" in said and "it is damaged" in said
    assert [path.name for path in tmp_path.iterdir()] == ["course"]


def test_a_students_files_are_copied_whatever_they_are_called_and_hold(course: Path, tmp_path: Path) -> None:
    handed_in = course / "submitted/ada" / UNIT
    names = ("data.db", "my-journal", "notes.txt-wal", "records.lock", "marking.db", "gradebook.db-shm")
    for name in names:
        (handed_in / name).write_bytes(b"SQLite format 3\0 says the file")
    (course / "manifest.json").write_text("mine", encoding="utf-8")
    (course / "gradebook.db-journal").touch()
    (handed_in / "node_modules").mkdir()
    report = backup(course, tmp_path / "course.zip")
    (remark,) = (one for one in report.remarks if "node_modules" in one)
    assert remark.startswith("1 folders") and remark.endswith(f"submitted/ada/{UNIT}/node_modules")
    restore(tmp_path / "course.zip", tmp_path / "copy")
    copies = [(tmp_path / "copy/submitted/ada" / UNIT / name).read_bytes() for name in names]
    assert set(copies) == {b"SQLite format 3\0 says the file"}
    assert (tmp_path / "copy/manifest.json").read_text(encoding="utf-8") == "mine"
    assert not (tmp_path / "copy/gradebook.db-journal").exists()


def test_a_gradebook_with_another_name_is_copied_as_a_database(course: Path, tmp_path: Path) -> None:
    (course / "gradebook.db").rename(course / "marks.sqlite")
    with (course / "nbgrader_config.py").open("a", encoding="utf-8") as file:
        file.write("\nc.CourseDirectory.db_url = f\"sqlite:///{HERE / 'marks.sqlite'}\"\n")
    with sqlite3.connect(course / "marks.sqlite", isolation_level=None) as busy:
        busy.execute("pragma journal_mode = wal")
        busy.execute("create table stored (number)")
        backup(course, tmp_path / "course.zip")
    restore(tmp_path / "course.zip", tmp_path / "copy")
    assert [path.name for path in (tmp_path / "copy").glob("marks*")] == ["marks.sqlite"]
    with sqlite3.connect(tmp_path / "copy/marks.sqlite") as db:
        assert db.execute("select count(*) from stored").fetchone() == (0,)


def test_what_restore_would_refuse_is_not_written(course: Path, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(archives, "MANIFEST_BYTES", 100)
    with pytest.raises(BadBackup, match="move old assignments out of it"):
        backup(course, tmp_path / "course.zip")
    monkeypatch.undo()
    monkeypatch.setattr(archives, "VALUES", 3)
    with pytest.raises(BadBackup, match="course.zip is not a backup"):
        backup(course, tmp_path / "course.zip")
    assert [path.name for path in tmp_path.iterdir()] == ["course"]


def test_what_the_course_keeps_elsewhere_is_named_without_its_password(course: Path, tmp_path: Path) -> None:
    with (course / "nbgrader_config.py").open("a", encoding="utf-8") as file:
        file.write(
            '\nc.CourseDirectory.db_url = "postgresql://ada:secret@host/class"\nc.Exchange.root = "/srv/nbgrader"\n'
        )
    report = backup(course, tmp_path / "course.zip")
    said = "\n".join(report.remarks)
    assert "on a server (postgresql://ada:***@host/class)" in said and "the exchange, /srv/nbgrader" in said
    (course / "nbgrader_config.py").write_text("c = 1 +", encoding="utf-8")
    report = backup(course, tmp_path / "again.zip")  # a copy of a broken course is better than none
    assert any("is unknown: " in remark and "line 1" in remark for remark in report.remarks)


def test_nothing_is_overwritten(course: Path, archive: Path, tmp_path: Path) -> None:
    with pytest.raises(BadBackup, match="is there already"):
        backup(course, archive)
    (tmp_path / "full").mkdir()
    (tmp_path / "full/mine").touch()
    for place in (tmp_path / "full", archive):
        with pytest.raises(BadBackup, match="is there already"):
            restore(archive, place)
    (tmp_path / "empty").mkdir()
    restore(archive, tmp_path / "empty")
    assert (tmp_path / "empty/course.key").is_file()
    with pytest.raises(BadBackup, match="is not a course"):
        backup(tmp_path / "full", tmp_path / "other.zip")


def test_files_are_compressed(archive: Path) -> None:
    with zipfile.ZipFile(archive) as stored:
        assert {one.compress_type for one in stored.infolist()} == {zipfile.ZIP_DEFLATED}


def test_a_backup_inside_the_course_does_not_hold_itself(course: Path, tmp_path: Path) -> None:
    backup(course, course / "mine.zip")
    assert not [name for name in zipfile.ZipFile(course / "mine.zip").namelist() if "mine.zip" in name]


CHANGES = {
    "a later form": (lambda m: m.update(version=BACKUP.version + 1, release="9.1"), "format 2.*tfkit-course 9.1"),
    "later tables": (lambda m: m["formats"].update({"records.db": RECORDS.version + 1}), "records.db has format 2"),
    "foreign": (lambda m: m.update(format="other"), "is not a backup"),
    "up and out": (lambda m: m["files"][0].update(path="../records.db"), "leads out of the course's folder"),
    "from the root": (lambda m: m["files"][0].update(path="/etc/records.db"), "leads out of the course's folder"),
    "by a detour": (lambda m: m["files"][0].update(path="a/./../records.db"), "leads out of the course's folder"),
    "a folder outside": (lambda m: m["folders"][0].update(path="a/../../b"), "leads out of the course's folder"),
    "twice": (lambda m: m["files"].append(m["files"][0]), "a path comes twice"),
    "a file as folder": (lambda m: m["folders"].append({"path": "course.key/x", "mode": 0}), "a file and a folder"),
    "no list": (lambda m: m.pop("files"), "its manifest.json is damaged"),
    "a missing file": (lambda m: m["files"].pop(), "does not hold what its manifest.json lists"),
    "another hash": (lambda m: m["files"][0].update(sha256="0" * 64), "records.db is not what was stored"),
    "more bytes": (lambda m: m["files"][0].update(size=10), "records.db is not what was stored"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_damaged_foreign_later_or_escaping_archive_leaves_nothing(archive: Path, tmp_path: Path, name: str) -> None:
    change, message = CHANGES[name]
    before = sorted(path.name for path in tmp_path.iterdir()) + ["changed.zip"]
    with pytest.raises(BadBackup, match=message) as caught:
        restore(rewrite(archive, change), tmp_path / "copy")
    assert "\n" not in str(caught.value)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(before)


def with_byte(whole: bytes, place: int, byte: int) -> bytes:
    return whole[:place] + bytes([byte]) + whole[place + 1 :]


def test_other_files_and_broken_archives_are_refused(archive: Path, tmp_path: Path) -> None:
    whole = archive.read_bytes()
    middle = len(whole) // 3
    first = 30 + int.from_bytes(whole[26:28], "little") + int.from_bytes(whole[28:30], "little")  # behind its header
    broken = {
        "block": with_byte(whole, first, 0xFF),  # of a kind that deflate does not have
        "locked": with_byte(whole, whole.index(b"PK\1\2") + 8, 1),  # the first file, with a password
        "cut": whole[: len(whole) // 2],
        "empty": b"",
        "text": b"course",
        "turned": whole[:middle] + bytes(255 - byte for byte in whole[middle : middle + 64]) + whole[middle + 64 :],
    }
    for name, content in broken.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(BadBackup, match=rf"/{name}\b.*(damaged|not a backup)"):
            restore(tmp_path / name, tmp_path / "copy")
    with zipfile.ZipFile(tmp_path / "plain.zip", "w") as plain:
        plain.writestr("a.txt", "x")
    with pytest.raises(BadBackup, match="is not a backup that"):
        restore(tmp_path / "plain.zip", tmp_path / "copy")
    with pytest.raises(BadBackup, match="does not hold what"):
        restore(rewrite(archive, lambda m: None, **{"../../evil": "x"}), tmp_path / "copy")
    assert not (tmp_path / "copy").exists() and not list(tmp_path.glob(".copy*"))


@pytest.mark.parametrize("command", ["backup", "restore"])
def test_ctrl_c_leaves_nothing(course: Path, archive: Path, tmp_path: Path, command: str) -> None:
    def stop(path: str, count: int) -> None:
        raise KeyboardInterrupt

    before = sorted(path.name for path in tmp_path.iterdir())
    with pytest.raises(KeyboardInterrupt):
        backup(course, tmp_path / "new.zip", stop) if command == "backup" else restore(archive, tmp_path / "new", stop)
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_a_full_disk_is_told_in_a_line(course: Path, tmp_path: Path, monkeypatch, capsys) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(SystemExit) as ended:
        cli.main(["backup", str(course), str(tmp_path / "course.zip")])
    assert ended.value.code == 2 and capsys.readouterr().err.endswith("free some space there\n")
    assert [path.name for path in tmp_path.iterdir()] == ["course"]
