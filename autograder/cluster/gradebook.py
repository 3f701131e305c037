"""The one writer of nbgrader's gradebook: a record becomes the rows and the files that `nbgrader autograde` leaves."""

from __future__ import annotations

import os
import shutil
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbgrader.api import Gradebook, SubmittedNotebook
from nbgrader.converters.base import BaseConverter
from nbgrader.preprocessors import AssignLatePenalties
from nbgrader.utils import find_all_files, rmtree
from sqlalchemy.exc import SAWarning
from sqlalchemy.orm import scoped_session, sessionmaker

from autograder.cluster.course import Course, working_in
from autograder.cluster.job import Record
from autograder.nbgrader.late import extension
from autograder.nbgrader.save import SaveVerdicts

BUSY_MS = 60_000  # how long to wait for someone else's write to an SQLite gradebook: the formgrader's, say


class Writer:
    """Puts records into the gradebook, one transaction each. Use it in a `with`."""

    def __init__(self, course: Course) -> None:
        self.course = course
        self.gradebook = Gradebook(course.coursedir.db_url, course.coursedir.course_id)
        self._connection = self.gradebook.engine.connect()
        if self.gradebook.engine.dialect.name == "sqlite":
            self._connection.exec_driver_sql(f"pragma busy_timeout = {BUSY_MS}")
            self._connection.commit()
        self._save = SaveVerdicts(parent=course.app)
        self._late = AssignLatePenalties(parent=course.app)
        self._late.init_plugin()

    def __enter__(self) -> Writer:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()
        self.gradebook.close()

    def write(self, record: Record, folder: Path) -> None:
        """Files first, then all rows at once: who sees the grades finds the graded notebook too. Can be repeated."""
        with working_in(self.course.root):
            notebooks = {name: nbformat.reads(text, as_version=4) for name, text in record.notebooks.items()}
            self._files(record, folder)
            with self.transaction() as gradebook, warnings.catch_warnings():
                warnings.simplefilter("ignore", SAWarning)  # nbgrader's own code provokes one for each new submission
                self._rows(gradebook, record, folder, notebooks)
            self.course.converter.run_post_convert_hook()

    @contextmanager
    def transaction(self) -> Iterator[Gradebook]:
        """The gradebook, whose own commits wait for the end of the block; an error takes all of it back."""
        with self._connection.begin() as outer:
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
    def _rows(self, gradebook: Gradebook, record: Record, folder: Path, notebooks: dict[str, NotebookNode]) -> None:
        student, assignment = record.key.student, record.key.assignment
        gradebook.update_or_create_student(student)
        when = self.course.coursedir.get_existing_timestamp(str(folder))
        gradebook.update_or_create_submission(assignment, student, **({"timestamp": when} if when else {}))
        hours = extension(self.course.app, assignment, student)
        if hours is not None:
            gradebook.grant_extension(assignment, student, hours=hours)
        for name in self.course.released:
            submitted = gradebook.find_submission_notebook(name, assignment, student)
            if name in notebooks:
                self._grades(gradebook, record, name, notebooks[name])
                self._penalty(submitted)
            else:  # as nbgrader: a notebook that was not handed in is worth nothing
                for grade in submitted.grades:
                    grade.auto_score, grade.needs_manual_grade = 0, False

    def _grades(self, gradebook: Gradebook, record: Record, name: str, nb: NotebookNode) -> None:
        save = self._save
        save.gradebook, save.notebook_id = gradebook, name
        save.assignment_id, save.student_id = record.key.assignment, record.key.student
        for index, cell in enumerate(nb.cells):
            save.preprocess_cell(cell, {}, index)

    def _penalty(self, notebook: SubmittedNotebook) -> None:
        """What AssignLatePenalties does, which opens a gradebook of its own."""
        self.gradebook.db.flush()
        self.gradebook.db.refresh(notebook)  # its score is a sum that the database makes
        notebook.late_submission_penalty = None
        late_s = notebook.assignment.total_seconds_late
        if late_s > 0:
            student = notebook.assignment.student.id
            penalty = self._late.plugin_inst.late_submission_penalty(student, notebook.score, late_s)
            if penalty is not None:
                notebook.late_submission_penalty = self._late._check_late_penalty(notebook, penalty)

    # -- files ---------------------------------------------------------------------------------------------------------
    def _files(self, record: Record, folder: Path) -> None:
        converter, target = self.course.converter, self.course.graded_folder(record.key.student)
        student, assignment = record.key.student, record.key.assignment
        if target.exists():
            rmtree(str(target))
        target.mkdir(parents=True)
        BaseConverter.init_assignment(converter, assignment, student)  # what else was handed in
        self._given_files(assignment, target)
        for name, text in record.notebooks.items():
            (target / f"{name}.ipynb").write_text(text, encoding="utf-8")
        converter.set_permissions(assignment, student)

    def _given_files(self, assignment: str, target: Path) -> None:
        """The course's own version of files that come with the assignment."""
        coursedir = self.course.coursedir
        source = coursedir.format_path(coursedir.source_directory, ".", assignment)
        kept = set(self.course.converter.exclude_overwriting.get(assignment, []))
        for file in find_all_files(source, [*coursedir.ignore, "*.ipynb"]):
            name = os.path.relpath(file, source)
            if name not in kept:
                (target / name).parent.mkdir(parents=True, exist_ok=True)
                (target / name).unlink(missing_ok=True)
                shutil.copy(file, target / name)
