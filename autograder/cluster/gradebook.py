"""The only writer of nbgrader's gradebook: turns a record into the rows and files that `nbgrader autograde` makes."""

from __future__ import annotations

import logging
import os
import shutil
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbgrader.api import Gradebook, MissingEntry, SubmittedAssignment, SubmittedNotebook
from nbgrader.utils import find_all_files, rmtree
from sqlalchemy.exc import SAWarning
from sqlalchemy.orm import scoped_session, sessionmaker
from tornado.log import app_log

from autograder.cluster.course import Course, working_in
from autograder.cluster.job import GradingRecord
from autograder.cluster.student_files import copy_submitted, make_way
from autograder.nbgrader.late import extension
from autograder.nbgrader.ledger import Ledger, Total, stored_total
from autograder.nbgrader.save import SaveVerdicts
from autograder.nbgrader.timestamps import UnreadableTimestamp, read_timestamp

BUSY_MS = 60_000  # how long to wait for another writer of an SQLite gradebook, such as the formgrader


class _PreviewRollback(Exception):
    """Rolls back a transaction that only served as a preview."""


def _timestamp(folder: Path) -> dict[str, datetime | None]:
    """The submission's time for the gradebook, which keeps the one that it has where the folder has none."""
    try:
        when = read_timestamp(folder)
    except UnreadableTimestamp:  # the time of an earlier attempt says nothing of this one
        return {"timestamp": None}
    return {"timestamp": when} if when else {}


def _leave_to_a_person(notebook: SubmittedNotebook) -> None:
    """No grade of it counts until somebody has looked at it, hand-marked questions included."""
    for grade in notebook.grades:
        grade.auto_score, grade.needs_manual_grade = None, True


@contextmanager
def _quiet(log: logging.Logger) -> Iterator[None]:
    before, log.disabled = log.disabled, True
    try:
        yield
    finally:
        log.disabled = before


class GradebookWriter:
    """Writes records into the gradebook, one transaction each. Use it in a `with` statement."""

    def __init__(self, course: Course) -> None:
        self.course = course
        self.gradebook = Gradebook(course.coursedir.db_url, course.coursedir.course_id)
        self._connection = self.gradebook.engine.connect()
        if self.gradebook.engine.dialect.name == "sqlite":
            self._connection.exec_driver_sql(f"pragma busy_timeout = {BUSY_MS}")
            self._connection.commit()
        self._save = SaveVerdicts(parent=course.app)
        self._ledger = Ledger(course.app)

    def __enter__(self) -> GradebookWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()
        self.gradebook.close()

    def write(self, record: GradingRecord, folder: Path) -> None:
        """Writes files first, then all rows at once, so that each grade has its graded notebook. Can be repeated.

        An error, such as a full disk, leaves files and rows as they were.
        """
        with working_in(self.course.root):
            self._files_and_rows(record, folder)
            self.course.converter.run_post_convert_hook()

    def _files_and_rows(self, record: GradingRecord, folder: Path) -> None:
        with self._files_or_none(record, folder), self.transaction() as gradebook:
            self._rows(gradebook, record, folder)

    def preview(self, record: GradingRecord, folder: Path) -> tuple[Total, Total]:
        """The student's total as the formgrader shows it now, and as it will be after the record is written."""
        student, assignment = record.key.student, record.key.assignment
        before = Total()
        quiet = working_in(self.course.root), _quiet(self._save.log), suppress(_PreviewRollback)
        with quiet[0], quiet[1], quiet[2], self.transaction() as gradebook:
            with suppress(MissingEntry):
                before = stored_total(gradebook.find_submission(assignment, student))
            self._rows(gradebook, record, folder)
            gradebook.db.flush()
            gradebook.db.expire_all()  # the database computes the sums of scores
            after = stored_total(gradebook.find_submission(assignment, student))
            raise _PreviewRollback
        return before, after

    def totals(self) -> dict[str, tuple[Total, Total]]:
        """Student → the total that the formgrader shows, and the one by the current policy with all manual marks."""
        with self.transaction():
            return {one.student.id: (stored_total(one), self._ledger.total(one)) for one in self._submissions()}

    def store_penalties(self, students: Iterable[str]) -> None:
        """Store the penalties by the current policy, from all marks so far."""
        wanted = set(students)
        with self.transaction():
            for submission in (one for one in self._submissions() if one.student.id in wanted):
                for notebook in submission.notebooks:
                    notebook.late_submission_penalty = self._ledger.penalty(notebook)

    def _submissions(self) -> list[SubmittedAssignment]:
        """The graded submissions."""
        return [one for one in self.gradebook.assignment_submissions(self.course.assignment)
                if any(grade.auto_score is not None or grade.manual_score is not None
                       for notebook in one.notebooks for grade in notebook.grades)]  # fmt: skip

    @contextmanager
    def transaction(self) -> Iterator[Gradebook]:
        """The gradebook, with its own commits delayed until the block ends; an error rolls everything back."""
        # nbgrader logs a traceback for each error that it then raises
        with _quiet(app_log), self._connection.begin() as outer:
            session = sessionmaker(bind=self._connection, future=True, join_transaction_mode="rollback_only")
            self.gradebook.db.remove()
            self.gradebook.db = scoped_session(session)
            try:
                yield self.gradebook
                self.gradebook.db.flush()
            finally:
                self.gradebook.db.remove()
            outer.commit()

    # -- rows ----------------------------------------------------------------------------------------------------------
    def _rows(self, gradebook: Gradebook, record: GradingRecord, folder: Path) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SAWarning)  # nbgrader's own code provokes one for each new submission
            self._submission(gradebook, record, folder)
        student, assignment = record.key.student, record.key.assignment
        notebooks = {name: nbformat.reads(text, as_version=4) for name, text in record.notebooks.items()}
        for name in self.course.released:
            submitted = gradebook.find_submission_notebook(name, assignment, student)
            if name in notebooks:
                self._grades(gradebook, record, name, notebooks[name])
                if name in record.missing:
                    _leave_to_a_person(submitted)
            else:  # as in nbgrader, a notebook that was not submitted earns nothing
                for grade in submitted.grades:
                    grade.auto_score, grade.needs_manual_grade = 0, False
            self._penalty(submitted)

    def _submission(self, gradebook: Gradebook, record: GradingRecord, folder: Path) -> None:
        student, assignment = record.key.student, record.key.assignment
        gradebook.update_or_create_student(student)
        gradebook.update_or_create_submission(assignment, student, **_timestamp(folder))
        hours = extension(self.course.app, assignment, student)
        if hours is not None:
            gradebook.grant_extension(assignment, student, hours=hours)

    def _grades(self, gradebook: Gradebook, record: GradingRecord, name: str, nb: NotebookNode) -> None:
        save = self._save
        save.gradebook, save.notebook_id = gradebook, name
        save.assignment_id, save.student_id = record.key.assignment, record.key.student
        save.waiting = []  # the screen says who waits for a person, and why
        for index, cell in enumerate(nb.cells):
            save.preprocess_cell(cell, {}, index)

    def _penalty(self, notebook: SubmittedNotebook) -> None:
        """Does what AssignLatePenalties does; that class would open a gradebook of its own."""
        self.gradebook.db.flush()
        self.gradebook.db.refresh(notebook)  # the database computes its score
        notebook.late_submission_penalty = self._ledger.penalty(notebook)

    # -- files ---------------------------------------------------------------------------------------------------------
    @contextmanager
    def _files_or_none(self, record: GradingRecord, folder: Path) -> Iterator[None]:
        """Write the graded folder; an error here or in the block restores the previous one."""
        target = self.course.graded_folder(record.key.student)
        before = target.with_name(f".{target.name}.before")
        if before.exists():  # left by a grader that was killed here; its record is being written again
            rmtree(str(before))
        if target.exists():
            target.rename(before)
        try:
            target.mkdir(parents=True)
            self._files(record, target)
            yield
        except BaseException:
            rmtree(str(target))
            if before.exists():
                before.rename(target)
            raise
        if before.exists():
            rmtree(str(before))

    def _files(self, record: GradingRecord, target: Path) -> None:
        student, assignment = record.key.student, record.key.assignment
        copy_submitted(self._folder(student), target, self.course.coursedir.ignore)
        self._given_files(assignment, target)
        for name, text in record.notebooks.items():
            (target / f"{name}.ipynb").write_text(text, encoding="utf-8")
        self.course.converter.set_permissions(assignment, student)

    def _folder(self, student: str) -> str:
        coursedir = self.course.coursedir
        return str(coursedir.format_path(coursedir.submitted_directory, student, self.course.assignment))

    def _given_files(self, assignment: str, target: Path) -> None:
        """Copy the course's own version of files that belong to the assignment."""
        coursedir = self.course.coursedir
        source = coursedir.format_path(coursedir.source_directory, ".", assignment)
        kept = set(self.course.converter.exclude_overwriting.get(assignment, []))
        for file in find_all_files(source, [*coursedir.ignore, "*.ipynb"]):
            name = os.path.relpath(file, source)
            if name not in kept:
                make_way(target, Path(name))
                shutil.copy(file, target / name)
