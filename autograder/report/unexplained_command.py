"""`autograder misconceptions`: the groups on the terminal or as a page, and an instructor's sentences about them."""

from __future__ import annotations

import argparse
import re
import sys

from rich.console import Console
from rich.prompt import Prompt

from autograder.exercises import registry
from autograder.feedback.files import write_new
from autograder.report.unexplained import (
    Cluster,
    CourseClass,
    UnexplainedError,
    clusters,
    export_group,
    find_outdated,
    name,
    open_course,
    read,
)
from autograder.report.unexplained_page import page, terminal

WORDS = 6  # of a sentence that make a name
OUTDATED = (
    "{lost} is no longer recognised, because the checks of its exercise ask other questions now: name its group again, "
    "with the same --called, or delete its table in {file}"
)
ASK = "One sentence for the student (empty: skip it)"


def run(arguments: argparse.Namespace) -> int:
    """Runs the command; returns 0. Raises BadCourse, UnexplainedError, BadMisconceptions or SandboxError."""
    if arguments.output and arguments.output.exists():  # before some minutes of work
        raise UnexplainedError(f"{arguments.output} exists: name a new file, or delete it")
    course = open_course(arguments.course, arguments.assignments)
    if arguments.export:
        exercise, _, called = arguments.export.rpartition("/")
        print(export_group(course, registry.find(exercise), called), end="")
        return 0
    for lost in find_outdated(course):
        print(OUTDATED.format(lost=lost, file=course.file), file=sys.stderr)
    found = clusters(read(course, arguments.kinds or bool(arguments.name)))
    if arguments.name:
        _keep(course, _wanted(found, arguments.name[0]), arguments.name[1], arguments.called)
        return 0
    if arguments.output:
        write_new(arguments.output, page(sorted(course.folders), found, str(arguments.course)))
        print(f"wrote {arguments.output}")
        return 0
    _show(course, found)
    return 0


def _show(course: CourseClass, found: list[Cluster]) -> None:
    """Prints the groups, each with a prompt if the terminal is interactive."""
    console = Console(highlight=False)
    if not found:
        console.print("every wrong answer is explained by a misconception or a kind of mistake")
    asks = sys.stdin.isatty() and sys.stdout.isatty()
    for one in found:
        console.print(terminal(one))
        if asks and (sentence := Prompt.ask(ASK, default="", show_default=False, console=console)):
            _keep(course, one, sentence, None)
            course = open_course(course.root, sorted(course.folders))  # what was written counts for the next
    if found and not asks:
        console.print("to name one: autograder misconceptions COURSE_DIR --name GROUP 'One sentence.'")


def _wanted(found: list[Cluster], group: str) -> Cluster:
    for one in found:
        if one.id == group:
            return one
    there = ", ".join(one.id for one in found) or "none"
    raise UnexplainedError(f"no group is called {group}; available: {there}")


def _keep(course: CourseClass, one: Cluster, sentence: str, called: str | None) -> None:
    sentence = " ".join(sentence.split())
    words = re.findall(r"[a-z0-9]+", (called or sentence).lower().replace("'", ""))
    called = "_".join(words if called else words[:WORDS])
    if not called:
        raise UnexplainedError("the sentence is empty: describe the mistake")
    for path in name(course, one, called, sentence):
        print(f"wrote {path}")
    print(f"{one.exercise.id}/{called} is recognised from the next grading on; to update existing grades: "
          "nbgrader autograde --force, or autograder grade --regrade")  # fmt: skip
