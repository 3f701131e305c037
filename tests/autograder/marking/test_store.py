"""The file of the marking page: made once, and refused where another version wrote it."""

import sqlite3
from concurrent.futures import ThreadPoolExecutor

import pytest

from autograder.marking.store import FILE, TABLES, BadMark, MarkedCell, MarkingStore
from tfkit_course.formats import MARKING

WHERE = MarkedCell("02-masks", "02-masks", "task-why")


def test_it_is_made_once_and_opened_again(tmp_path):
    with MarkingStore(tmp_path) as store:
        store.add_mark(WHERE, "ada", 1.0, "Good.", "eve")
    with MarkingStore(tmp_path) as store:
        assert store.marks(WHERE)["ada"].comment == "Good."
    with sqlite3.connect(tmp_path / FILE) as file:
        assert file.execute("pragma user_version").fetchone() == (MARKING.version,)


def test_markers_who_begin_at_once_make_one_file(tmp_path):
    def mark(student):
        with MarkingStore(tmp_path) as store:
            store.add_mark(WHERE, student, 1.0, "", "eve")

    students = [f"student{n}" for n in range(8)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(mark, students))
    with MarkingStore(tmp_path) as store:
        assert sorted(store.marks(WHERE)) == students


@pytest.mark.parametrize(
    ("version", "what"), [(0, "older than every release .*: rename"), (MARKING.version + 1, "format 2.*: install")]
)
def test_a_file_of_another_version_is_refused_and_left_as_it_is(tmp_path, version, what):
    with sqlite3.connect(tmp_path / FILE) as file:
        file.execute("create table marks (id integer primary key, student text)")
        file.execute(f"pragma user_version = {version}")
    with pytest.raises(BadMark, match=rf"{FILE} .*{what}"):
        MarkingStore(tmp_path)
    with sqlite3.connect(tmp_path / FILE) as file:
        assert file.execute("select name from sqlite_master").fetchall() == [(TABLES[0],)]
