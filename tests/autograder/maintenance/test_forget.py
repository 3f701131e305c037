"""`autograder forget`: after it nothing in the course names the student, and nobody else lost anything."""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
from pathlib import Path

import pytest
from nbgrader.api import Gradebook
from nbgrader.utils import notebook_hash

from autograder import cli
from autograder.cluster.bundle import Key
from autograder.cluster.job import GradingRecord
from autograder.cluster.records import CourseBusy, Records
from autograder.maintenance import forget
from autograder.maintenance.places import PREDICTIONS
from autograder.marking.store import MarkingStore, NewRequest

from ..marking.graded import TASK, UNIT, grade

SECRET = "a secret of ada's"


@pytest.fixture
def course(root: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Ada and Ben have left something in every place that a course has."""
    (root / "students.csv").write_text("id,first_name\nada,Ada\nben,Ben\n", encoding="utf-8")
    results = {UNIT: {"ada": {"bits": 1.0}, "ben": {"bits": 2.0}}}
    (root / "capstone.json").write_text(json.dumps(results), encoding="utf-8")
    (root / "teams.toml").write_text('# teams\n[teams]\nred = ["ada", "ben"]\n', encoding="utf-8")
    (root / "report-ada.html").write_text("<p>adage", encoding="utf-8")
    (root / "shared").mkdir()
    for student in ("ada", "ben"):
        handed_in = root / "submitted" / student / UNIT
        handed_in.mkdir(parents=True)
        (handed_in / f"{UNIT}.ipynb").write_text("{}", encoding="utf-8")
        (handed_in / "submission_secret.txt").write_text(SECRET.replace("ada", student), encoding="utf-8")
        for place in ("tfkit/inbound", "cache/tfkit"):  # the second as of a student who works on this disk
            (root / "exchange" / place / f"{student}+{UNIT}+2026-11-01 10:00:00 UTC").mkdir(parents=True)
        (root / "shared" / f"{student}.0123.json").write_text("{}", encoding="utf-8")
        page(root, student).parent.mkdir(exist_ok=True)
        page(root, student).write_text("<p>well done", encoding="utf-8")
    with Records(root) as records:
        round = records.begin_round(UNIT, regrade=False)
        for student in ("ada", "ben"):
            key = Key(student, UNIT, "s" * 64, "c" * 64)
            records.add(round, GradingRecord(key, {UNIT: f"{student}'s words"}, [], 2.0, "here:1"))
            records.mark_committed(round, key)
            records.mark_returned(UNIT, student, round.number)
    with MarkingStore(root) as marks:
        for student in ("ada", "ben"):
            marks.add_mark(TASK, student, 1.5, "Good.", "grace")
            marks.add_request(NewRequest(TASK, student, "Why?", student, f"{student}+file", "2026-11-01"))
            marks.add_shares(TASK, {student: "grace"}, "grace")
        marks.add_answer(1, True, "Yes, ada.", "grace")
    monkeypatch.setenv(PREDICTIONS, str(root / "shared"))
    return root


def page(root: Path, student: str) -> Path:
    """The page that `nbgrader fetch_feedback` would find."""
    name = notebook_hash(secret=SECRET.replace("ada", student), notebook_id=UNIT)
    return root / "exchange/tfkit/feedback" / f"{name}.html"


def run(*words: object) -> int:
    with pytest.raises(SystemExit) as ended:
        cli.main([str(word) for word in words])
    return int(ended.value.code or 0)


def content(root: Path) -> dict[str, bytes]:
    files = (path for path in root.rglob("*") if path.is_file() and path.name != "records.lock")
    return {str(path.relative_to(root)): path.read_bytes() for path in files}


def named_in(root: Path, word: bytes) -> list[str]:
    """The files that hold the word in their text or name; nbgrader's random ids, in which it may occur, are no text."""
    whole = re.compile(rb"(?<![a-z])" + word + rb"(?![a-z])")
    texts = {name: re.sub(rb"[0-9a-f]{32}", b" ", text) + b"\n" + name.encode() for name, text in content(root).items()}
    return sorted(name for name, text in texts.items() if whole.search(text))


def test_nothing_of_the_student_is_left_and_all_of_the_others(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = grade(course, "ben")
    assert run("forget", "ada", course, "--yes") == 0
    said = capsys.readouterr().out
    assert "gradebook: the student, and 1 submissions" in said and "records.db: 1 rows of records" in said
    assert "teams.toml, line 3" in said and "report-ada.html, by its name" in said and "backups" in said
    left = ["nbgrader_config.py", "report-ada.html", "teams.toml"]  # said above; the first has an example
    assert [name for name in named_in(course, b"ada") if not name.startswith(("source/", "release/"))] == left
    assert not page(course, "ada").exists() and page(course, "ben").is_file()
    assert grade(course, "ben") == before
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}", "tfkit") as gradebook:
        assert [one.id for one in gradebook.students] == ["ben", "chen"]
    assert (course / "students.csv").read_text(encoding="utf-8") == "id,first_name\nben,Ben\n"
    assert list(json.loads((course / "capstone.json").read_text(encoding="utf-8"))[UNIT]) == ["ben"]
    for place in ("submitted", "autograded", "exchange/tfkit/inbound", "exchange/cache/tfkit", "shared"):
        assert [path.name for path in sorted((course / place).iterdir())][0].startswith("ben")
    with MarkingStore(course) as marks:
        assert list(marks.marks(TASK)) == ["ben"] and [one.student for one in marks.requests()] == ["ben"]
    with sqlite3.connect(course / "records.db") as db, pytest.raises(sqlite3.IntegrityError, match="append-only"):
        db.execute("delete from records")  # the triggers are back
    with Records(course) as records:
        assert list(records.current_keys(UNIT)) == ["ben"]
    assert run("forget", "ada", course, "--yes") == 2
    assert "holds nothing about a student 'ada', but mentions that word in" in capsys.readouterr().err


@pytest.mark.parametrize("words", [["--dry-run"], []])
def test_without_a_yes_everything_stays(course: Path, capsys: pytest.CaptureFixture[str], words: list[str]) -> None:
    before = content(course)
    assert run("forget", "ada", course, *words) == (0 if words else 2)
    assert capsys.readouterr().out.endswith("nothing was removed\n")
    assert content(course) == before


@pytest.mark.parametrize("name", ["", "*", "..", "a/b"])
def test_what_is_no_id_is_refused(course: Path, name: str) -> None:
    with pytest.raises(forget.InvalidStudentId, match="is not a student's id"):
        forget.find(course, name)


def test_a_student_whose_id_goes_on_after_a_dot_keeps_their_files(course: Path) -> None:
    for name in ("ada.lovelace.0123.json", "ada.0123.progress.json", "ada.lovelace.0123.progress.json"):
        (course / "shared" / name).write_text("{}", encoding="utf-8")
    assert run("forget", "ada", course, "--yes") == 0
    left = ["ada.lovelace.0123.json", "ada.lovelace.0123.progress.json", "ben.0123.json"]
    assert sorted(path.name for path in (course / "shared").iterdir()) == left


def test_a_folder_of_another_account_costs_nothing_else_and_is_named(course: Path, monkeypatch, capsys) -> None:
    whole = shutil.rmtree

    def refuse(path: Path) -> None:
        if "inbound" in Path(path).parts:
            raise PermissionError(13, "Permission denied", "inner")
        whole(path)

    (course / "passback.jsonl").touch()
    with monkeypatch.context() as patch:
        patch.setattr(shutil, "rmtree", refuse)
        assert run("forget", "ada", course, "--yes") == 2
    said = capsys.readouterr()
    assert "passback.jsonl, which has the learning management system's own ids" in said.out
    assert said.err.count("\n") == 1 and f"inbound/ada+{UNIT}+2026-11-01 10:00:00 UTC: Permission denied" in said.err
    data = forget.find(course, "ada")
    assert [path.parent.name for path in data.paths] == ["inbound"]
    assert data.submissions is None and not data.rows and not data.entries and not page(course, "ada").exists()
    assert run("forget", "ada", course, "--yes") == 0 and not forget.find(course, "ada")


def test_what_the_gradebook_does_not_know_is_found(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (course / "submitted/zoe/old-unit/release").mkdir(parents=True)
    (course / "submitted/ben" / UNIT / "release").mkdir()
    (course / "submitted/ben" / UNIT / "release/notes.txt").write_text("as zoe says", encoding="utf-8")
    (course / "release").mkdir(exist_ok=True)
    (course / "release/names.txt").write_text("zoe", encoding="utf-8")
    (course / "downloaded/02-masks/extracted/zoe/source").mkdir(parents=True)
    data = forget.find(course, "zoe")
    assert data.paths == [course / "submitted/zoe"]
    assert data.left == ["downloaded/02-masks/extracted/zoe/, by its name",
                         f"submitted/ben/{UNIT}/release/notes.txt, line 1"]  # fmt: skip
    assert run("forget", "zoe", course, "--yes") == 0 and not (course / "submitted/zoe").exists()


def test_a_course_with_another_order_of_folders_keeps_an_assignment_that_is_called_as_the_student(course: Path) -> None:
    with (course / "nbgrader_config.py").open("a", encoding="utf-8") as file:
        file.write('\nc.CourseDirectory.directory_structure = "{nbgrader_step}/{assignment_id}/{student_id}"\n')
    (course / "submitted/zoe/ben").mkdir(parents=True)
    (course / "submitted/02-masks/zoe").mkdir(parents=True)
    assert forget.find(course, "zoe").paths == [course / "submitted/02-masks/zoe"]


def test_a_class_list_that_is_not_text_is_named_and_spaces_around_an_id_do_not_hide_it(course: Path, capsys) -> None:
    (course / "students.csv").write_text("id, first_name\n ada , Ada\nben,Ben\n", encoding="utf-8")
    assert run("forget", "ada", course, "--yes") == 0
    assert (course / "students.csv").read_text(encoding="utf-8") == "id, first_name\nben,Ben\n"
    (course / "students.csv").write_bytes("id,first_name\nben,Bén\n".encode("latin-1"))
    assert run("forget", "ben", course, "--dry-run") == 0
    assert "students.csv, which cannot be read (it is not text in UTF-8)" in capsys.readouterr().out


def test_nothing_is_removed_while_somebody_grades(course: Path) -> None:
    data = forget.find(course, "ada")
    with Records(course):
        before = content(course)
        with pytest.raises(CourseBusy):
            forget.forget(course, data)
        assert content(course) == before


def test_a_course_that_was_only_handed_in_to_has_no_tables_yet(course: Path) -> None:
    for name in ("records.db", "marking.db"):
        (course / name).unlink()
    shutil.rmtree(course / "autograded")
    data = forget.find(course, "chen")
    assert data.submissions == 1 and not data.rows and not data.paths
    forget.forget(course, data)
    assert forget.find(course, "chen").submissions is None
