"""`autograder capstone`: one file, a whole class, or the class's leaderboard."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from autograder import sandbox
from autograder.capstone import results
from autograder.console import help_texts
from autograder.console.base import BadInput
from autograder.feedback.text import plain
from autograder.settings.capstone import Terms, read
from tfkit_course.command_line import add_command

NAME = "17-capstone"
CELL = "project-language-model"  # its points are stored as nbgrader's manual score


def add(command: argparse.ArgumentParser) -> None:
    """Add the subcommands `check`, `grade` and `show`."""
    commands = command.add_subparsers(required=True, metavar="COMMAND", title="commands")
    texts = help_texts.CAPSTONE_COMMANDS
    _add_check_arguments(check := add_command(commands, "check", texts["check"]))
    check.set_defaults(run=_check)
    grade = add_command(commands, "grade", texts["grade"])
    grade.add_argument("course", type=Path, metavar="COURSE_DIR", help=help_texts.COURSE_DIR)
    grade.add_argument("assignment", nargs="?", default=NAME, metavar="ASSIGNMENT",
                       help="the assignment's name (default: %(default)s)")  # fmt: skip
    grade.add_argument("students", nargs="*", metavar="STUDENT", help="only these students; by default all")
    grade.set_defaults(run=_grade)
    show = add_command(commands, "show", texts["show"])
    show.add_argument("course", type=Path, metavar="COURSE_DIR", help=help_texts.COURSE_DIR)
    show.set_defaults(run=_show)


def _add_check_arguments(check: argparse.ArgumentParser) -> None:
    check.add_argument("files", nargs="+", type=Path, metavar="FILE.{py,ipynb}",
                       help="notebooks or Python files that define the class LanguageModel")  # fmt: skip
    check.add_argument(
        "--course",
        type=Path,
        metavar="COURSE_DIR",
        help="a course whose course.toml sets the budget and the bands of points",
    )
    check.add_argument("--seconds", type=float, metavar="S",
                       help="seconds of processor time to train in, instead of the course's")  # fmt: skip
    check.add_argument("--seed", help="seed of the synthetic language, to measure on the same one again")
    check.add_argument("--trust", action="store_true", help=help_texts.TRUST)
    check.add_argument("--json", action="store_true", help="print one JSON object per file")


def _check(arguments: argparse.Namespace) -> int:
    from autograder.capstone.judge import judge

    if arguments.seconds is not None and not 0 < arguments.seconds < 1e5:
        raise BadInput(f"--seconds {arguments.seconds:g} is not a budget: it must be above 0")
    terms = _or_bad_input(read, arguments.course)
    terms = terms if arguments.seconds is None else replace(terms, seconds=arguments.seconds)
    backend = sandbox.choose(trust=arguments.trust)
    reached = True
    for path in arguments.files:
        found = judge(_or_bad_input(results.sources, path), backend, terms, arguments.seed)
        reached = reached and found.points > 0
        report = {"file": str(path), **found.as_json()}
        print(json.dumps(report) if arguments.json else f"{path}: {sentence(report, terms)}", flush=True)
    return 0 if reached else 1


def _grade(arguments: argparse.Namespace) -> int:
    from autograder.capstone.judge import judge
    from autograder.cluster.course import BadCourse, settings_of, students_in

    course, assignment = arguments.course.resolve(), arguments.assignment
    try:
        coursedir = settings_of(course).coursedir
    except BadCourse as error:
        raise BadInput(str(error)) from None
    terms = _or_bad_input(read, course)
    handed_in = students_in(coursedir, coursedir.submitted_directory, assignment)
    if unknown := sorted(set(arguments.students) - handed_in.keys()):
        raise BadInput(f"{unknown[0]} has not submitted {assignment}")
    if not handed_in:
        raise BadInput(f"{course} has no submission of {assignment}")
    _or_bad_input(results.read, course)
    backend = sandbox.choose()
    for student, folder in handed_in.items():
        if arguments.students and student not in arguments.students:
            continue
        found = judge(_handed_in(folder / f"{assignment}.ipynb"), backend, terms)
        results.keep(course, assignment, student, found.as_json())
        entered = (
            ""
            if _enter(coursedir, assignment, student, found.points)
            else " (not in the gradebook: autograde it first)"
        )
        print(f"{student}: {sentence(found.as_json(), terms)}{entered}", flush=True)
    return 0


def _handed_in(path: Path) -> list[str]:
    """The code to run; empty if the notebook is missing or broken, which is then reported as a missing class."""
    try:
        return results.sources(path)
    except (OSError, ValueError):
        return []


def _enter(coursedir: Any, assignment: str, student: str, points: float) -> bool:
    """Writes the points into the gradebook as the manual score of the project's cell; returns whether that worked."""
    from nbgrader.api import Gradebook, MissingEntry

    with Gradebook(coursedir.db_url, coursedir.course_id) as gradebook:
        try:
            grade = gradebook.find_grade(CELL, assignment, assignment, student)
        except MissingEntry:
            return False
        grade.manual_score, grade.needs_manual_grade = points, False
        gradebook.db.commit()
        return True


def _show(arguments: argparse.Namespace) -> int:
    if not arguments.course.is_dir():
        raise BadInput(f"{arguments.course} is not a folder: name the course directory")
    boards = _or_bad_input(lambda course: list(results.leaderboard(course)), arguments.course)
    if not boards:
        print(f"nothing has been measured yet: run `autograder capstone grade {arguments.course}`")
    for board in boards:
        print(board["assignment"])
        for index, row in enumerate(board["rows"], 1):
            who = plain(str(row["called"] or "anonymous"))
            print(
                f"{index:4}  {row['bits']:.3f} bits per byte, {row['excess']:.3f} above the entropy of the text  {who}"
            )
        print(f"      and {board['others']} students who are not listed")
    return 0


def sentence(found: dict[str, Any], terms: Terms) -> str:
    """The result in one line."""
    if found["reason"]:
        return f"0 of {terms.points:g} points: {plain(found['reason'])}"  # what the student's code said
    return (
        f"{found['points']:g} of {terms.points:g} points: {found['bits']:.3f} bits per byte of new text, "
        f"{found['excess']:.3f} above its own {found['floor']:.3f}; trained for {found['seconds']:g} s"
    )


def _or_bad_input(function: Callable[..., Any], *arguments: Any) -> Any:
    try:
        return function(*arguments)
    except (ValueError, OSError) as error:
        raise BadInput(str(error)) from None
