"""The `autograder` command. Each subcommand imports what it needs, so that `list` is instant."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from autograder import registry
from autograder.api import Exercise, Verdict


class BadInput(Exception):
    """What was asked for cannot be done; the message says what, where, and what to do."""


def main(argv: Sequence[str] | None = None) -> None:
    """Run the command; exits 0 (all passed), 1 (not all) or 2 (not graded, or a request that makes no sense)."""
    arguments = _parser().parse_args(argv)
    try:
        code = arguments.run(arguments)
    except (registry.UnknownExercise, BadInput) as error:
        print(f"autograder: {error}", file=sys.stderr)
        code = 2
    except BrokenPipeError:  # `autograder list | head`
        code = 0
    sys.exit(code)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="autograder", description="Grade what students build against the reference.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    check = commands.add_parser("check", help="grade one exercise in Python files or notebooks")
    check.add_argument("exercise", help="an id, as `autograder list` shows them")
    check.add_argument("files", nargs="+", type=Path, metavar="FILE.{py,ipynb}")
    check.add_argument("--device", choices=("auto", "cpu", "cuda"), default="auto")
    check.add_argument("--seed", type=int, help="draw the inputs of this verdict again")
    check.add_argument("--json", action="store_true", help="one object a line per file")
    check.add_argument("--trust", action="store_true", help="where there is no sandbox, run the code NOT ISOLATED")
    check.set_defaults(run=_check)
    commands.add_parser("list", help="exercise ids, a line each").set_defaults(run=_list)
    commands.add_parser("doctor", help="sandbox, devices, versions; what is missing").set_defaults(run=_doctor)
    corpus = commands.add_parser("corpus", help="grade our own right and wrong answers")
    corpus.add_argument("exercises", nargs="*", help="ids; all where none is given")
    corpus.add_argument("--report", action="store_true", help="name each answer that was misjudged")
    corpus.add_argument("--seed", type=int, default=0)
    corpus.set_defaults(run=_corpus)
    return parser


def _list(arguments: argparse.Namespace) -> int:
    for exercise in registry.exercises():
        print(exercise.id)
    return 0


def _check(arguments: argparse.Namespace) -> int:
    exercise = registry.find(arguments.exercise)
    submissions = [(file, _read(file)) for file in arguments.files]  # all of them, before the first is graded
    from autograder.sandbox import SandboxError, choose

    try:
        backend = choose(trust=arguments.trust)
    except SandboxError as error:
        raise BadInput(f"{error} (--trust)") from error
    verdicts = []
    for file, content in submissions:
        verdicts.append(_graded(exercise, file, content, backend, arguments))
        print(json.dumps(verdicts[-1].as_json()) if arguments.json else _text(verdicts[-1]), flush=True)
    if any(verdict.status == "not_graded" for verdict in verdicts):
        return 2
    return 0 if all(verdict.status == "passed" for verdict in verdicts) else 1


def _graded(exercise: Exercise, file: Path, content: Any, backend: Any, arguments: argparse.Namespace) -> Verdict:
    from autograder import run

    how = {"backend": backend, "device": arguments.device, "seed": arguments.seed}
    if isinstance(content, str):
        verdict = run.grade_source(exercise, content, **how)
    else:
        verdict = run.grade_notebook(content, [exercise], student=file.name, **how)[0]
    return replace(verdict, file=str(file))


def _read(file: Path) -> Any:
    """A Python file's text or a notebook's object; raises BadInput."""
    if file.suffix not in (".py", ".ipynb"):
        raise BadInput(f"{file} is neither a .py nor an .ipynb file")
    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise BadInput(f"there is no file {file}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{file} cannot be read: {error}") from None
    return text if file.suffix == ".py" else _notebook(file, text)


def _notebook(file: Path, text: str) -> dict[str, Any]:
    try:
        notebook = json.loads(text)
        cells = notebook["cells"]
        sound = isinstance(cells, list) and all(isinstance(cell.get("metadata", {}), dict) for cell in cells)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        sound = False
    if not sound:
        raise BadInput(f"{file} is no notebook of format 4: open it in JupyterLab and save it again")
    return notebook


def _text(verdict: Verdict) -> str:
    lines = [f"{verdict.file}: {verdict.exercise} {verdict.status}, {verdict.score:g} of {verdict.max_score:g}"]
    lines += [
        f"  {check.status:8} {check.name}" + f": {check.message}" * bool(check.message) for check in verdict.checks
    ]
    lines += [f"  {text}" for text in (verdict.reason, verdict.hint) if text]
    if verdict.sandbox == "subprocess" or "not" in verdict.sandbox:
        lines.append("  NOT ISOLATED: the code ran with your own rights")
    return "\n".join(lines)


def _doctor(arguments: argparse.Namespace) -> int:
    from autograder.doctor import report

    lines, sound = report()
    print("\n".join(lines))
    return 0 if sound else 2


def _corpus(arguments: argparse.Namespace) -> int:
    from autograder.checks.corpus import judge

    exercises = [registry.find(name) for name in arguments.exercises] or list(registry.exercises())
    sound = True
    for exercise in exercises:
        score = judge(exercise, arguments.seed)
        sound = sound and not score.complaints
        print(score.line, flush=True)
        for complaint in score.complaints if arguments.report else ():
            print(f"  {complaint}")
    return 0 if sound else 1
