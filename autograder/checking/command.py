"""`autograder check`: its options and what it does, which is all that a waiting process is ever asked for."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from autograder.api import Verdict, with_hints
from autograder.checking import ci
from autograder.console import help_texts
from autograder.console.base import BadInput, exit_status
from autograder.diagnosis import misconceptions
from autograder.exercises import registry
from autograder.feedback.text import one_line, verdict_text
from autograder.feedback.words import is_unwritten
from autograder.grade.file import grade_answer, read
from autograder.grade.notebook import NotebookResult, grade_file
from autograder.ordering.make import has_puzzle
from autograder.sandbox import SandboxError, choose
from tfkit_course import replace_unencodable

FORMATS = ("text", "json", "markdown", "github", "gitlab")


def check(argv: Sequence[str]) -> int:
    """The exit status of `autograder check` with these arguments, in a process that does nothing else."""
    replace_unencodable()
    parser = argparse.ArgumentParser(prog="autograder check")
    add_options(parser)
    arguments = parser.parse_args(argv)
    return exit_status(lambda: run(arguments), "the check", registry.UnknownExercise, registry.TwoExercises)


def add_options(check: argparse.ArgumentParser) -> None:
    """Add what `run` reads."""
    check.add_argument("exercise", metavar="ID",
                       help="an exercise id, as shown by `autograder list`; without one, all exercises of the "
                       "notebooks")  # fmt: skip
    check.add_argument("files", nargs="*", type=Path, metavar="FILE.{py,ipynb}",
                       help="Python files or notebooks that define the answer")  # fmt: skip
    check.add_argument("--device", choices=("auto", "cpu", "cuda"), default="auto", help=help_texts.DEVICE)
    check.add_argument("--seed", type=int, metavar="N", help="the seed of an earlier verdict, to draw the same inputs")
    check.add_argument("--json", action="store_const", dest="format", const="json", default="text",
                       help="print one JSON object per verdict, as --format json does")  # fmt: skip
    check.add_argument("--format", choices=FORMATS, default="text",
                       help="how to print; the last three are for whole notebooks (default: %(default)s)")  # fmt: skip
    check.add_argument("-o", "--output", type=Path, default=Path(), metavar="DIR",
                       help="where --format gitlab writes its reports (default: the current folder)")  # fmt: skip
    check.add_argument("--ignore-unwritten", action="store_true",
                       help="exit with 0 also if exercises are still to be written")  # fmt: skip
    check.add_argument("--hints", type=int, choices=range(4), default=3, metavar="N",
                       help="how much help to show: 0 none, 1 the concept, 2 also the symptoms and the line, 3 also "
                       "the counter-example (default: %(default)s)")  # fmt: skip
    check.add_argument("--known", type=Path, metavar="DIR",
                       help="a folder with a course's own misconceptions.toml, as a released unit has")  # fmt: skip
    check.add_argument("--trust", action="store_true", help=help_texts.TRUST)
    check.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Prints a verdict on each file, or on each exercise of each notebook. Raises BadInput."""
    if arguments.exercise.endswith(".ipynb"):
        return _check_notebooks([Path(arguments.exercise), *arguments.files], arguments)
    exercise = registry.find(arguments.exercise)
    if not arguments.files:
        raise BadInput(f"no file is named: autograder check {arguments.exercise} FILE")
    if arguments.format not in ("text", "json"):
        raise BadInput(f"--format {arguments.format} is for whole notebooks: leave out {arguments.exercise}")
    submissions = [(file, read(file)) for file in arguments.files]  # read every file before the first is graded
    backend, known = _prepare(arguments)
    verdicts = []
    for file, content in submissions:
        how = {"device": arguments.device, "seed": arguments.seed, "known": known}
        verdict = grade_answer(exercise, file, content, backend, **how)
        verdicts.append(verdict)
        _show(verdict, arguments)
    return _status(verdicts, arguments.ignore_unwritten)


def _prepare(arguments: argparse.Namespace) -> tuple[Any, misconceptions.Entries]:
    """The sandbox, and the course's own misconceptions. Raises BadInput."""
    try:
        backend = choose(trust=arguments.trust)
        return backend, misconceptions.read(arguments.known / misconceptions.FILE) if arguments.known else {}
    except SandboxError as error:
        raise BadInput(f"{error} (--trust)") from error
    except misconceptions.BadMisconceptions as error:
        raise BadInput(str(error)) from error


def _show(verdict: Verdict, arguments: argparse.Namespace) -> None:
    offered = verdict.status == "failed" and has_puzzle(registry.find(verdict.exercise))
    shown = with_hints(replace(verdict, ordering=offered).as_json(), arguments.hints)
    print(json.dumps(shown) if arguments.format == "json" else verdict_text(shown), flush=True)


def _status(verdicts: Sequence[Verdict], ignore_unwritten: bool) -> int:
    if any(verdict.status == "not_graded" for verdict in verdicts):
        return 2
    left = [one for one in verdicts if not (ignore_unwritten and is_unwritten(one.as_json()))]
    return 0 if all(verdict.status == "passed" for verdict in left) else 1


def _check_notebooks(files: Sequence[Path], arguments: argparse.Namespace) -> int:
    """All exercises of each notebook. Every file is graded, whatever is wrong with another. Raises BadInput."""
    backend, known = _prepare(arguments)
    how = {"device": arguments.device, "seed": arguments.seed, "known": known}
    results = []
    for file in files:
        results.append(grade_file(file, backend, **how))
        if arguments.format in ("text", "json"):
            for one in results[-1].verdicts:
                _show(one.verdict, arguments)
    _write(results, arguments)
    for problem in (one_line(result.problem) for result in results if result.problem):
        # standard error is part of the log as well
        shown = ci.without_commands(problem) if arguments.format == "github" else problem
        print(f"autograder: {shown}", file=sys.stderr)
    verdicts = [one.verdict for result in results for one in result.verdicts]
    return 2 if any(result.problem for result in results) else _status(verdicts, arguments.ignore_unwritten)


def _write(results: Sequence[NotebookResult], arguments: argparse.Namespace) -> None:
    """What the format asks for besides single verdicts. Raises BadInput where a report cannot be written."""
    if arguments.format == "markdown":
        print(ci.markdown(results, arguments.hints))
    if arguments.format in ("github", "gitlab"):
        log = ci.github_log if arguments.format == "github" else ci.log_lines
        print(*log(results, arguments.hints), sep="\n")
    try:
        if arguments.format == "github":
            print(*ci.github(results, arguments.hints), sep="\n")
            _add_summary(ci.markdown(results, arguments.hints))
        if arguments.format == "gitlab":
            arguments.output.mkdir(parents=True, exist_ok=True)
            for name, report in ci.REPORTS.items():
                (arguments.output / name).write_text(report(results, arguments.hints), "utf-8", "backslashreplace")
    except OSError as error:
        raise BadInput(f"{error.filename} cannot be written: {error.strerror}") from None


def _add_summary(text: str) -> None:
    path = os.environ.get("GITHUB_STEP_SUMMARY") or os.devnull
    with open(path, "a", encoding="utf-8", errors="backslashreplace") as summary:
        summary.write(text)
