"""`autograder check`: its options and what it does, which is all that a waiting process is ever asked for."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

from autograder.api import with_hints
from autograder.console import help_texts
from autograder.console.base import BadInput, exit_status
from autograder.diagnosis import misconceptions
from autograder.exercises import registry
from autograder.feedback.text import verdict_text
from autograder.grade.file import grade_answer, read
from tfkit_course import replace_unencodable


def check(argv: Sequence[str]) -> int:
    """The exit status of `autograder check` with these arguments, in a process that does nothing else."""
    replace_unencodable()
    parser = argparse.ArgumentParser(prog="autograder check")
    add_options(parser)
    arguments = parser.parse_args(argv)
    return exit_status(lambda: run(arguments), "the check", registry.UnknownExercise, registry.TwoExercises)


def add_options(check: argparse.ArgumentParser) -> None:
    """Add what `run` reads."""
    check.add_argument("exercise", metavar="ID", help="an exercise id, as shown by `autograder list`")
    check.add_argument("files", nargs="+", type=Path, metavar="FILE.{py,ipynb}",
                       help="Python files or notebooks that define the answer")  # fmt: skip
    check.add_argument("--device", choices=("auto", "cpu", "cuda"), default="auto", help=help_texts.DEVICE)
    check.add_argument("--seed", type=int, metavar="N", help="the seed of an earlier verdict, to draw the same inputs")
    check.add_argument("--json", action="store_true", help="print one JSON object per file")
    check.add_argument("--hints", type=int, choices=range(4), default=3, metavar="N",
                       help="how much help to show: 0 none, 1 the concept, 2 also the symptoms and the line, 3 also "
                       "the counter-example (default: %(default)s)")  # fmt: skip
    check.add_argument("--known", type=Path, metavar="DIR",
                       help="a folder with a course's own misconceptions.toml, as a released unit has")  # fmt: skip
    check.add_argument("--trust", action="store_true", help=help_texts.TRUST)
    check.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Prints a verdict on each file. Raises BadInput."""
    exercise = registry.find(arguments.exercise)
    submissions = [(file, read(file)) for file in arguments.files]  # read every file before the first is graded
    from autograder.sandbox import SandboxError, choose

    try:
        backend = choose(trust=arguments.trust)
        known = misconceptions.read(arguments.known / misconceptions.FILE) if arguments.known else {}
    except SandboxError as error:
        raise BadInput(f"{error} (--trust)") from error
    except misconceptions.BadMisconceptions as error:
        raise BadInput(str(error)) from error
    verdicts = []
    for file, content in submissions:
        how = {"device": arguments.device, "seed": arguments.seed, "known": known}
        verdict = grade_answer(exercise, file, content, backend, **how)
        verdicts.append(verdict)
        shown = with_hints(verdict.as_json(), arguments.hints)
        print(json.dumps(shown) if arguments.json else verdict_text(shown), flush=True)
    if any(verdict.status == "not_graded" for verdict in verdicts):
        return 2
    return 0 if all(verdict.status == "passed" for verdict in verdicts) else 1
