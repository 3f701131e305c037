"""`autograder request` sends a student's regrade request; `autograder requests` lists those of a course."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from autograder.console import help_texts
from autograder.console.base import BadInput
from autograder.feedback.text import plain
from autograder.marking.question import BadRegradeRequest, find_question_id
from autograder.marking.store import BadMark
from tfkit_course import install
from tfkit_course.command_line import add_command


def add(commands: Any) -> None:
    """Add both commands to the parser."""
    request = add_command(commands, "request", help_texts.REQUEST)
    request.add_argument("notebook", type=Path, metavar="NOTEBOOK.ipynb", help="the notebook that you submitted")
    request.add_argument("question", metavar="QUESTION", help="the question's id, or that of its exercise")
    request.add_argument("reason", metavar="REASON", help="why the mark should change, in a sentence or two")
    request.set_defaults(run=_request)
    requests = add_command(commands, "requests", help_texts.REQUESTS)
    requests.add_argument("course", type=Path, metavar="COURSE_DIR", help=help_texts.COURSE_DIR)
    requests.set_defaults(run=_requests)


def _request(arguments: argparse.Namespace) -> int:
    request = arguments.notebook, arguments.question, arguments.reason
    try:
        find_question_id(*request)
        from autograder.marking import requests

        cell = requests.send(*request)
    except ImportError as error:
        raise BadInput(f"`autograder request` needs {error.name}: {install('grading')}") from error
    except BadRegradeRequest as error:
        raise BadInput(str(error)) from error
    print(f"sent: {cell} of {arguments.notebook.name}; the answer will be in the feedback")
    return 0


def _requests(arguments: argparse.Namespace) -> int:
    try:
        from autograder.marking import regrades
    except ImportError as error:
        raise BadInput(f"`autograder requests` needs {error.name}: {install('grading')}") from error
    try:
        found = regrades.list_requests(arguments.course.resolve())
    except BadMark as error:
        raise BadInput(str(error)) from error
    for one in found:
        state = {None: "waits", True: "accepted", False: "declined"}[one["accepted"]]
        sender = f" (sent by the account {one['sender']})" if one["sender"] else ""
        line = f"{one['at']} {one['assignment']} {one['cell']} {one['student']}{sender}: {state}: {one['reason']}"
        print(plain(" ".join(line.split())))
    if not found:
        print("no regrade requests")
    return 0
