"""A course directory as nbgrader sees it: its settings, released notebooks, and submissions."""

from __future__ import annotations

import glob
import json
import logging
import os
import re
import shutil
import sys
import traceback
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from nbgrader.api import Gradebook, MissingEntry
from nbgrader.apps import AutogradeApp
from nbgrader.converters import Autograde
from nbgrader.coursedir import CourseDirectory
from traitlets import TraitError

from autograder.cluster import seeds
from autograder.cluster.bundle import (
    Bundle,
    Key,
    ReleasedNotebook,
    SubmittedNotebook,
    hash_of_checks,
    hash_of_submission,
)
from autograder.cluster.records import FILE, graded_before
from autograder.cluster.student_files import missing_notebook, other_files, take_renamed, unreadable_files
from autograder.feedback.text import one_line
from autograder.nbgrader import config, predictions, questions, timestamps, unfinished
from autograder.nbgrader.config import CONFIG
from autograder.nbgrader.execute import BoxedExecute
from autograder.nbgrader.rebuild import sources
from autograder.nbgrader.submission import UnreadableNotebook, drop_special, special_files, text_of
from autograder.settings import course_file, points

SANITIZE = ("RebuildFromGradebook", "OverwriteKernelspec", "CheckCellMetadata")
AUTOGRADE = ("BoxedExecute", "LimitOutput", "SaveVerdicts", "AssignLatePenalties", "CheckCellMetadata")
REPAIR = "compare the shipped autograder/nbgrader/nbgrader_config.py, and repair this one before you grade"


class BadCourse(Exception):
    """This directory, assignment or configuration cannot be graded; the message says what to do."""


@dataclass(frozen=True)
class Submission:
    """A student's folder for one assignment. `remarks`: what the instructor should know of its files, a line each."""

    key: Key
    folder: Path
    remarks: tuple[str, ...] = ()


class Course:
    """The course in `root`, with the settings that the stock commands would find there. Raises BadCourse.

    students: only these of all who submitted; None for everybody. take_renamed: take a submission's only notebook for
    the one that is missing, whatever its name is.
    """

    def __init__(
        self, root: Path, assignment: str, device: str | None = None, students: Collection[str] | None = None,
        take_renamed: bool = False,
    ) -> None:  # fmt: skip
        self.root, self.assignment, self._students = root.resolve(), assignment, students
        self._take_renamed = take_renamed
        self.app = settings_of(self.root)
        if device is not None:
            self.app.config.BoxedExecute.device = device
        self.coursedir = self.app.coursedir
        self.coursedir.assignment_id = assignment
        self.converter = Autograde(coursedir=self.coursedir, parent=self.app)
        _refuse_unknown_steps(self.converter)
        _check_course_file(self.root)
        self.share_again = points.read_share_again(self.root / course_file.FILE)  # of what is graded, a second time

    @cached_property
    def released(self) -> dict[str, ReleasedNotebook]:
        """The notebooks of the assignment, from the gradebook. Raises BadCourse if it has no such assignment."""
        try:
            with Gradebook(self.coursedir.db_url, self.coursedir.course_id) as gradebook:
                return released_in(gradebook, self.assignment)
        except BadCourse:
            if count := graded_before(self.root, self.assignment):
                raise BadCourse(f"the gradebook has no assignment {self.assignment!r}, of which {FILE} has {count} "
                                "graded attempts: it is another one, or was lost: put a copy of it back (`autograder "
                                "restore` writes a backup into a folder beside)") from None  # fmt: skip
            raise

    @cached_property
    def checks(self) -> str:
        """A hash of all that a verdict depends on besides the submission."""
        return hash_of_checks(self.released, self.settings["BoxedExecute"], self.assignment)

    @property
    def settings(self) -> dict[str, dict[str, Any]]:
        """The settings of the steps that run on a worker."""
        return boxed_settings(self.app)

    @property
    def device(self) -> str:
        """The device to grade on: auto, cpu or cuda."""
        return str(self.settings["BoxedExecute"].get("device", "auto"))

    @cached_property
    def secret(self) -> bytes:
        """The course's key, which stays on this machine. Raises BadCourse if the key file is missing."""
        return _key_path(self.app, self.root).read_bytes()

    def submissions(self) -> list[Submission]:
        """All submissions, sorted by student, after the course's `pre_convert_hook`.

        Raises BadCourse if there are none.
        """
        _ = self.released  # raises for an assignment that does not exist
        everyone = students_in(self.coursedir, self.coursedir.submitted_directory, self.assignment)
        students = {student: folder for student, folder in everyone.items() if self._wanted(student)}
        if not students:
            anyone = self.coursedir.format_path(self.coursedir.submitted_directory, "*", self.assignment)
            raise BadCourse(f"no submissions in {anyone}: run `nbgrader collect {self.assignment}` first")
        found = [self._submission(student, folder) for student, folder in students.items()]
        unfinished.release()  # drop the hook's lock: here the records show what is done
        return found

    def _submission(self, student: str, folder: Path) -> Submission:
        """One student's submission, without links and special files, after the hook."""
        remarks = _drop_special(folder)
        with working_in(self.root):
            self.converter.notebooks = [str(path) for path in sorted(folder.glob("*.ipynb"))]
            self.converter.run_pre_convert_hook()
        if self._take_renamed:
            remarks.append(take_renamed(folder, self.released))
        if unreadable := unreadable_files(folder):
            remarks.append(f"these may not be read and are left out: {', '.join(map(one_line, unreadable))}")
        remarks += [self._time_remark(folder), predictions.predictions_fault(folder) if self._predictions else "",
                    questions.questions_fault(folder) if self._with_questions else ""]  # fmt: skip
        return Submission(self._key(student, folder), folder, tuple(filter(None, remarks)))

    def _time_remark(self, folder: Path) -> str:
        """What the instructor is told where the time of a submission is unknown; "" where it is not."""
        if self._has_due_date and not os.path.lexists(folder / timestamps.FILE):
            return (f"no {timestamps.FILE}: graded as on time, or with the time of an earlier attempt that is graded; "
                    "whether it is late is for you to decide")  # fmt: skip
        return timestamps.timestamp_fault(folder)

    @cached_property
    def _has_due_date(self) -> bool:
        with Gradebook(self.coursedir.db_url, self.coursedir.course_id) as gradebook:
            return gradebook.find_assignment(self.assignment).duedate is not None

    def _wanted(self, student: str) -> bool:
        if student in self.coursedir.student_id_exclude.split(","):
            return False
        return self._students is None or student in self._students

    def _key(self, student: str, folder: Path) -> Key:
        handed_in = self.submitted_notebooks(folder), self.answered_predictions(folder), self.answered_questions(folder)
        return Key(student, self.assignment, hash_of_submission(*handed_in), self.checks)

    def submitted_notebooks(self, folder: Path) -> dict[str, SubmittedNotebook]:
        """The assignment's notebooks in this folder; other files are ignored where these are there.

        One that is missing waits for a person, unless the student handed in others of several and nothing that it may
        be: then it earns nothing, as in nbgrader.
        """
        paths = {name: folder / f"{name}.ipynb" for name in self.released}
        there = {name: _read_submitted(path) for name, path in paths.items() if os.path.lexists(path)}
        others = other_files(folder, self.released)
        if not there or any(name.endswith(".ipynb") for name in others):
            there |= {name: SubmittedNotebook(missing=missing_notebook(name, others))
                      for name in self.released if name not in there}  # fmt: skip
        return there

    def answered_predictions(self, folder: Path) -> tuple[str, ...]:
        """The predictions made in this folder that a released notebook gives points for, sorted by name."""
        names = self._predictions
        return tuple(sorted(names & predictions.answered_predictions(folder))) if names else ()

    @cached_property
    def _predictions(self) -> set[str]:
        """The names of the predictions that a released notebook gives points for."""
        return {name for text in self._sources_of(predictions.GRADE_ID) for name in predictions.prediction_names(text)}

    def answered_questions(self, folder: Path) -> dict[str, Any]:
        """The record of answers about the exercises for which a released notebook gives points for them."""
        names = self._with_questions
        return questions.select_exercises(questions.recorded_answers(folder), names) if names else {}

    @cached_property
    def _with_questions(self) -> set[str]:
        """The exercises for which a released notebook gives points for answers about one's own code."""
        return {name for text in self._sources_of(questions.GRADE_ID) for name in questions.exercise_names(text)}

    def _sources_of(self, grade_id: str) -> list[str]:
        """The sources of the released notebooks' graded cells with this id."""
        cells = [cell for one in self.released.values() for cell in one.cells if cell.grade]
        return [cell.source for cell in cells if cell.name == grade_id]

    def graded_folder(self, student: str) -> Path:
        """Where the student's graded notebooks are, or will be."""
        return Path(self.coursedir.format_path(self.coursedir.autograded_directory, student, self.assignment))

    def bundle(self, submission: Submission) -> bytes:
        """The bytes that are sent to a worker."""
        submitted, made = self.submitted_notebooks(submission.folder), self.answered_predictions(submission.folder)
        told = self.answered_questions(submission.folder)
        key = submission.key._replace(submission=hash_of_submission(submitted, made, told))
        drawn = seeds.draw(self.secret, key.student, submitted, self.released)
        return Bundle(key, submitted, self.released, self.settings, made, told, drawn).to_bytes()


def settings_of(root: Path) -> AutogradeApp:
    """nbgrader with the settings of the course in `root`, whose gradebook is `coursedir.db_url`.

    Raises BadCourse if there is no nbgrader_config.py or it cannot be loaded.
    """
    if not (root / CONFIG).is_file():
        raise BadCourse(f"{root} has no {CONFIG}: run `python -m autograder.nbgrader.config {root}`")
    if shutil.which("alembic") is None:  # nbgrader calls it for a new gradebook; it is next to our Python
        os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    with working_in(root):
        # by default nbgrader goes on with its own settings after an error, which run students' code without a sandbox
        app = AutogradeApp(log_level=logging.WARNING, raise_config_file_errors=True)
        try:
            app.initialize([f"--course-dir={root}"])
        except SystemExit as stop:  # traitlets has printed which setting
            raise BadCourse(f"{root / CONFIG}: a setting has a value of the wrong type (above): "
                            "repair it before you grade") from stop  # fmt: skip
        except Exception as error:
            raise BadCourse(f"{_place(error, root / CONFIG)}: {type(error).__name__}: {_first_line(error)}: "
                            "repair it before you grade") from error  # fmt: skip
    return app


def check_course(root: Path) -> None:
    """Raises BadCourse if the course.toml or the configuration in `root` is invalid, or if the latter does not grade as
    the shipped one does."""
    app = settings_of(root)
    _check_course_file(root)
    _refuse_unknown_steps(Autograde(coursedir=app.coursedir, parent=app))
    _key_path(app, root)
    try:
        BoxedExecute(parent=app)
    except TraitError as error:
        raise BadCourse(f"{root / CONFIG}: c.BoxedExecute: {_first_line(error)}: {REPAIR}") from error


def missing_settings(root: Path) -> list[str]:
    """The settings that the shipped configuration makes and the one in `root` doesn't, such as `c.BoxedExecute.credit`.

    A configuration that is older than a setting lacks it, and so has its default. Raises BadCourse as `settings_of`.
    """
    shipped = Path(config.__file__).with_name(CONFIG).read_text(encoding="utf-8")
    made = settings_of(root).config
    wanted = dict.fromkeys(re.findall(r"^c\.(\w+)\.(\w+) =", shipped, re.MULTILINE))
    return [f"c.{owner}.{name}" for owner, name in wanted if name not in made.get(owner, {})]


def _check_course_file(root: Path) -> None:
    """Raises BadCourse for an invalid course.toml; otherwise each exercise of each student would be not graded."""
    try:
        course_file.read(root / course_file.FILE)
    except course_file.CourseFileError as error:
        raise BadCourse(str(error)) from None


def _refuse_unknown_steps(converter: Autograde) -> None:
    """Raises BadCourse for preprocessors of the course's own, which would otherwise be left out silently."""
    for name, wanted in (("sanitize_preprocessors", SANITIZE), ("autograde_preprocessors", AUTOGRADE)):
        got = [_class_name(step) for step in getattr(converter, name)]
        if got != list(wanted):
            raise BadCourse(f"c.Autograde.{name} is {', '.join(got)}; `autograder grade` does the steps of the "
                            f"shipped configuration, {', '.join(wanted)}: {REPAIR}")  # fmt: skip


def _key_path(app: AutogradeApp, root: Path) -> Path:
    path = Path(app.config.get("BoxedExecute", {}).get("key_file", ""))
    if not path.is_file():
        raise BadCourse(f"no course key at {path}: run `python -m autograder.nbgrader.config {root}`")
    return path


def _place(error: Exception, config: Path) -> str:
    """The configuration file that was being read when the error was raised, and the line."""
    if isinstance(error, SyntaxError) and error.filename:
        return f"{error.filename}, line {error.lineno}"
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if Path(frame.filename).name == config.name]
    return f"{frames[-1].filename}, line {frames[-1].lineno}" if frames else str(config)


def _first_line(error: Exception) -> str:
    return (error.msg if isinstance(error, SyntaxError) else str(error)).partition("\n")[0]


def students_in(coursedir: CourseDirectory, step: str, assignment: str) -> dict[str, Path]:
    """Student → the folder that they have for the assignment in this step's directory, by name."""
    mark = "STUDENT\0"
    pattern = re.escape(coursedir.format_path(step, mark, assignment)).replace(re.escape(mark), "([^/]+)")
    folders = sorted(glob.glob(coursedir.format_path(step, "*", assignment)))
    matches = [re.fullmatch(pattern, folder) for folder in folders]
    return {match.group(1): Path(match.group()) for match in matches if match}


def released_in(gradebook: Gradebook, assignment: str) -> dict[str, ReleasedNotebook]:
    """The notebooks of the assignment as they were released, by name. Raises BadCourse for an unknown one."""
    try:
        notebooks = gradebook.find_assignment(assignment).notebooks
    except MissingEntry:
        known = ", ".join(sorted(one.name for one in gradebook.assignments)) or "none"
        raise BadCourse(f"the gradebook has no assignment {assignment!r} (it has: {known}): "
                        f"run `nbgrader generate_assignment {assignment}` first") from None  # fmt: skip
    return {
        notebook.name: ReleasedNotebook(
            tuple(sources(gradebook, notebook.name, assignment)),
            json.loads(notebook.kernelspec) if notebook.kernelspec else None,
        )
        for notebook in notebooks
    }


def boxed_settings(app: AutogradeApp) -> dict[str, dict[str, Any]]:
    """The course's settings for the steps that need no gradebook, without the name of the file with its key."""
    boxed = {name: value for name, value in app.config.get("BoxedExecute", {}).items() if name != "key_file"}
    return {"BoxedExecute": boxed, "LimitOutput": dict(app.config.get("LimitOutput", {}))}


def _read_submitted(path: Path) -> SubmittedNotebook:
    try:
        return SubmittedNotebook(text=text_of(path))
    except UnreadableNotebook as error:
        if isinstance(error.__cause__, PermissionError):  # the grader lacks a right; that says nothing of the answer
            return SubmittedNotebook(missing=f"no notebook {path.name} that may be read")
        return SubmittedNotebook(unreadable=str(error))


def _drop_special(folder: Path) -> list[str]:
    """Delete links and special files from a submission; returns a remark on those deleted, and one on those not."""
    deleted, left = drop_special(folder), special_files(folder)
    told = (("were deleted", deleted), ("could not be deleted and are not read", left))
    return [f"links and special files {what}: {', '.join(one_line(os.path.relpath(path, folder)) for path in paths)}"
            for what, paths in told if paths]  # fmt: skip


def _class_name(step: Any) -> str:
    return step.rpartition(".")[2] if isinstance(step, str) else step.__name__


@contextmanager
def working_in(folder: Path) -> Iterator[None]:
    """Changes the working directory for the block, because nbgrader's paths are relative to the course directory."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)
