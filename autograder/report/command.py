"""The commands that read a graded class: export, passback, roster, report, similarity, history, misconceptions."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from autograder.console import help_texts
from autograder.console.base import BadInput, add_assignment, add_course, lack
from autograder.diagnosis.misconceptions import BadMisconceptions
from autograder.feedback.files import write_new
from autograder.report import similar, similar_page
from autograder.sandbox import SandboxError
from tfkit_course.command_line import add_command

RECIPES = ("github-classroom", "gradescope-autograder")  # these export no scores, but the checks for another grader


def add_lms_commands(commands: Any) -> None:
    """Add export, passback and roster."""
    _export_parser(add_command(commands, "export", help_texts.EXPORT))
    passback = add_command(commands, "passback", help_texts.PASSBACK)
    add_course(passback)
    add_assignment(passback)
    passback.add_argument("--again", action="store_true", help="also send scores that the LMS has accepted already")
    passback.set_defaults(run=_passback)
    roster = add_command(commands, "roster", help_texts.ROSTER)
    add_course(roster)
    roster.set_defaults(run=_roster)


def _export_parser(export: argparse.ArgumentParser) -> None:
    add_course(export)
    add_assignment(export)
    formats = ("canvas", "moodle", "gradescope", "csv", *RECIPES)
    export.add_argument("--to", choices=formats, required=True, metavar="FORMAT", help=f"one of {', '.join(formats)}")
    export.add_argument("--per-question", action="store_true", help="one column or test per question")
    export.add_argument(
        "--partial", action="store_true", help="write totals of the questions marked so far, instead of blanks"
    )
    export.add_argument("-o", "--output", type=Path, required=True, metavar="FILE",
                        help="a new file; for gradescope and github-classroom a new folder")  # fmt: skip
    export.add_argument("--package", metavar="WHEEL_OR_URL",
                        help="the package that the recipes install; by default this one's source")  # fmt: skip
    export.add_argument("--torch-index", default="", metavar="URL",
                        help="for gradescope-autograder: the package index with PyTorch's CPU build")  # fmt: skip
    export.set_defaults(run=_export)


def add_class_commands(commands: Any) -> None:
    """Add report, similarity, history and misconceptions."""
    for name, text in help_texts.PAGES.items():
        page = add_command(commands, name, text)
        add_course(page)
        add_assignment(page)
        page.add_argument(
            "-o", "--output", type=Path, required=True, metavar="FILE.html", help="the page to write, a new file"
        )
        if name == "similarity":
            page.add_argument("--operations", action="store_true",
                              help="also run the answers in the sandbox, and compare tensor operations")  # fmt: skip
        page.set_defaults(run=_page, page=name)
    history = add_command(commands, "history", help_texts.HISTORY)
    add_course(history)
    add_assignment(history)
    history.add_argument("students", nargs="*", metavar="STUDENT", help="only these students; by default all")
    history.set_defaults(run=_history)
    _misconceptions_parser(add_command(commands, "misconceptions", help_texts.MISCONCEPTIONS))


def _misconceptions_parser(command: argparse.ArgumentParser) -> None:
    add_course(command)
    command.add_argument(
        "assignments", nargs="*", metavar="ASSIGNMENT", help="only these assignments; by default all that are graded"
    )
    command.add_argument("--kinds", action="store_true",
                         help="include answers for which a kind of mistake is known, but no misconception")  # fmt: skip
    command.add_argument("--name", nargs=2, metavar=("GROUP", "SENTENCE"),
                         help="store a group's behaviour with the sentence that verdicts will show for it")  # fmt: skip
    command.add_argument(
        "--called",
        metavar="NAME",
        help="with --name: the misconception's name; by default it is made from the sentence",
    )
    command.add_argument(
        "--export", metavar="EXERCISE/NAME", help="print a stored misconception as a table of wrong.toml"
    )
    command.add_argument(
        "-o", "--output", type=Path, metavar="FILE.html", help="write the groups as an HTML page to a new file"
    )
    command.set_defaults(run=_misconceptions)


def _export(arguments: argparse.Namespace) -> int:
    try:
        from autograder.report import export, recipes
    except ImportError as error:
        raise BadInput(lack("export", error, "grading")) from error
    try:
        if arguments.to in RECIPES:
            where = arguments.course, arguments.assignment, arguments.to, arguments.output
            recipes.write(*where, arguments.package, arguments.torch_index)
            print(f"wrote {arguments.output}")
            return 0
        scores = export.read(arguments.course, arguments.assignment)
        blank = export.write(scores, arguments.to, arguments.output, arguments.per_question, arguments.partial)
    except export.ExportError as error:
        raise BadInput(str(error)) from error
    for line in [*scores.warnings, *blank]:
        print(f"autograder: {line}", file=sys.stderr)
    print(f"wrote {arguments.output}")
    return 0


def _passback(arguments: argparse.Namespace) -> int:
    try:
        from autograder.cluster import scores
        from autograder.report import lti
    except ImportError as error:
        raise BadInput(lack("passback", error, "grading", "lti")) from error
    try:
        found = scores.read(arguments.course, arguments.assignment)
        done = lti.send(arguments.course, found, arguments.again)
    except scores.ExportError as error:
        raise BadInput(str(error)) from error
    for line in found.warnings:
        print(f"autograder: {line}", file=sys.stderr)
    there = f"; {len(done.already_sent)} have not changed since they were accepted" if done.already_sent else ""
    print(f"{len(done.sent)} scores of {arguments.assignment} were accepted{there}")
    if done.unknown:
        print(f"autograder: the LMS course has no member {', '.join(done.unknown)}: ids or e-mail addresses must "
              "match those in the gradebook", file=sys.stderr)  # fmt: skip
    return 2 if done.unknown else 0


def _roster(arguments: argparse.Namespace) -> int:
    try:
        from autograder.cluster import scores
        from autograder.report import lti
    except ImportError as error:
        raise BadInput(lack("roster", error, "grading", "lti")) from error
    try:
        added = lti.enrol(arguments.course)
    except scores.ExportError as error:
        raise BadInput(str(error)) from error
    print(f"{len(added)} students were added to the gradebook{': ' if added else ''}{', '.join(added)}")
    return 0


def _report(course: Path, assignment: str) -> str:
    from autograder.report.service import class_report

    return class_report(course, assignment)


def _similarity(course: Path, assignment: str, operations: bool) -> str:
    from autograder.report import answers

    written, stubs = answers.read(course, assignment)
    same = None
    if operations:
        from autograder.report import operations as performed  # it imports torch

        same = performed.matching_pairs(performed.read(course, assignment))
    known = similar.similar_to_known(written, answers.known_answers(stubs), stubs)
    return similar_page.page(assignment, written, similar.compare(written, stubs), same, known)


def _page(arguments: argparse.Namespace) -> int:
    try:
        from autograder.cluster.course import BadCourse
    except ImportError as error:
        raise BadInput(lack(arguments.page, error, "grading")) from error
    if arguments.output.exists():  # refuse now, before some minutes of work
        raise BadInput(f"{arguments.output} exists: name a new file, or delete it")
    try:
        where = arguments.course, arguments.assignment
        text = _similarity(*where, arguments.operations) if arguments.page == "similarity" else _report(*where)
        write_new(arguments.output, text)
    except (BadCourse, SandboxError) as error:
        raise BadInput(str(error)) from error
    except FileExistsError:
        raise BadInput(f"{arguments.output} exists: name a new file, or delete it") from None
    except OSError as error:
        raise BadInput(f"{arguments.output} cannot be written: {error.strerror}") from None
    print(f"wrote {arguments.output}")
    return 0


def _history(arguments: argparse.Namespace) -> int:
    try:
        from autograder.cluster import history
    except ImportError as error:
        raise BadInput(lack("history", error, "grading")) from error
    from autograder.console.output import make_console

    try:
        attempts = history.read(arguments.course, arguments.assignment)
    except history.BadCourse as error:
        raise BadInput(str(error)) from error
    known = {one.student for one in attempts}
    if not attempts or (unknown := [name for name in arguments.students if name not in known]):
        who = f" of {unknown[0]}" if attempts else ""
        raise BadInput(f"no attempt{who} at {arguments.assignment} is stored: `autograder grade` stores them")
    wanted = set(arguments.students) or known
    chosen = [one for one in attempts if one.student in wanted]
    make_console().print(history.table(arguments.assignment, chosen, _totals(arguments)))
    return 0


def _totals(arguments: argparse.Namespace) -> dict[str, str]:
    """Each student's total in the gradebook; empty if there are records but no gradebook."""
    from autograder.cluster import history, scores

    try:
        return history.totals(scores.read(arguments.course, arguments.assignment))
    except scores.ExportError:
        return {}


def _misconceptions(arguments: argparse.Namespace) -> int:
    try:
        from autograder.report import unexplained, unexplained_command
    except ImportError as error:
        raise BadInput(lack("misconceptions", error, "grading")) from error
    try:
        return unexplained_command.run(arguments)
    except (unexplained.BadCourse, unexplained.UnexplainedError, BadMisconceptions, SandboxError) as error:
        raise BadInput(str(error)) from error
