"""`autograder viva`."""

from __future__ import annotations

import argparse
import secrets
import sys
from pathlib import Path
from typing import Any

from autograder.console import help_texts
from autograder.console.base import BadInput, add_assignment, add_course, lack
from autograder.feedback.text import plain
from autograder.questions.command import backend_of, count_of_questions
from tfkit_course.command_line import add_command


def add_parsers(commands: Any) -> None:
    """Add viva."""
    command = add_command(commands, "viva", help_texts.VIVA)
    add_course(command)
    add_assignment(command)
    command.add_argument("students", nargs="*", metavar="STUDENT", help="only these students; by default all")
    command.add_argument("-o", "--output", type=Path, default=Path("viva"), metavar="DIR",
                         help="where the pages are written (default: %(default)s)")  # fmt: skip
    command.add_argument("--count", type=count_of_questions, default=5, metavar="N",
                         help="questions on each page (default: %(default)s)")  # fmt: skip
    command.add_argument("--seed", type=int, metavar="N",
                         help="the seed that an earlier run printed (default: a new one)")  # fmt: skip
    command.add_argument("--trust", action="store_true", help=help_texts.TRUST)
    command.set_defaults(run=_viva)


def _viva(arguments: argparse.Namespace) -> int:
    """Writes a page for each student; what is wrong with one submission is told and costs no other its page."""
    try:
        from autograder.cluster.course import BadCourse
        from autograder.viva import page as viva
    except ImportError as error:
        raise BadInput(lack("viva", error, "grading")) from error
    backend = backend_of(arguments.trust)
    try:
        folders = viva.submissions(arguments.course, arguments.assignment, arguments.students)
        names = viva.notebooks_of(arguments.course, arguments.assignment)
        arguments.output.mkdir(parents=True, exist_ok=True)
    except BadCourse as error:
        raise BadInput(str(error)) from error
    except OSError as error:
        raise BadInput(f"{error.filename or arguments.output} cannot be written: {error.strerror}") from None
    seed = secrets.randbelow(10**6) if arguments.seed is None else arguments.seed
    print(f"seed {seed}: --seed {seed} makes the same questions again", flush=True)
    for student, folder in folders.items():
        path = viva.path_of(arguments.output, student, arguments.assignment)
        if path.exists():
            _tell(f"{student}: skipped, since {path} exists; delete it or name another folder")
            continue
        try:
            page = viva.page_of(student, folder, arguments.assignment, backend, seed, arguments.count, names)
            viva.write(path, page)
        except Exception as error:  # whatever a submission does costs no other student the page
            _tell(f"{student}: no page ({type(error).__name__}: {error})")
            continue
        print(f"wrote {plain(str(path))}", flush=True)
        for problem in page.problems:
            _tell(f"{student}: {problem}")
    return 0


def _tell(text: str) -> None:
    """A line for the person at the terminal, of which no text controls it: files' names are the students'."""
    print(f"autograder: {plain(text)}", file=sys.stderr)
