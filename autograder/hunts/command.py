"""`autograder hunts`: lists, shows, grades and proves bug hunts."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from autograder.console import help_texts
from autograder.console.base import BadInput, positive
from autograder.console.help_format import add_command
from autograder.exercises import registry
from autograder.hunts import make
from autograder.hunts.make import MAX_FAULTS, Hunt
from autograder.hunts.terminal import task_text, verdict_text
from autograder.sandbox import SandboxError, choose
from tfkit_course.small_file import read_small, reason

LARGEST = 1 << 20  # bytes of a source that is handed in
ID = "an exercise, whose hunt is drawn by student and seed; or a hunt, as `autograder hunts list` shows it"


def add_parsers(hunts: argparse.ArgumentParser) -> None:
    """Add the subcommands."""
    commands = hunts.add_subparsers(required=True, metavar="COMMAND", title="commands")
    _list_parser(add_command(commands, "list", help_texts.HUNTS_LIST))
    _show_parser(add_command(commands, "show", help_texts.HUNTS_SHOW))
    _check_parser(add_command(commands, "check", help_texts.HUNTS_CHECK))
    _prove_parser(add_command(commands, "prove", help_texts.HUNTS_PROVE))


def _list_parser(command: argparse.ArgumentParser) -> None:
    command.add_argument("exercises", nargs="*", metavar="EXERCISE", help="only hunts of these exercises")
    _add_faults(command)
    command.add_argument("--results", type=Path, metavar="FILE.jsonl",
                         help="the results of `autograder hunts prove`, from which the levels are taken")  # fmt: skip
    command.set_defaults(run=_list)


def _show_parser(command: argparse.ArgumentParser) -> None:
    _add_hunt(command)
    command.add_argument("--json", action="store_true", help="print what a student sees as one JSON object")
    command.set_defaults(run=_show)


def _check_parser(command: argparse.ArgumentParser) -> None:
    _add_hunt(command)
    command.add_argument("--repair", type=Path, metavar="FILE.py", help="the repaired code")
    command.add_argument("--test", type=Path, metavar="FILE.py",
                         help="a test that fails on the faulty code: functions whose names begin with test, with a "
                              "parameter `answer` or ones called as what the exercise defines")  # fmt: skip
    command.add_argument("--lines", type=_line_numbers, metavar="N,N",
                         help="the numbers of the lines that are suspected, as `show` counts them")  # fmt: skip
    command.add_argument("--json", action="store_true", help="print the verdict as one JSON object")
    command.add_argument("--trust", action="store_true", help=help_texts.TRUST)
    command.set_defaults(run=_check)


def _prove_parser(command: argparse.ArgumentParser) -> None:
    command.add_argument("--only", nargs="+", default=[], metavar="EXERCISE", help="only hunts of these exercises")
    _add_faults(command)
    command.add_argument("--sample", type=partial(positive, what="hunts"), metavar="N",
                         help="only N hunts of each exercise, drawn by the seed")  # fmt: skip
    command.add_argument("--seed", type=int, default=0, metavar="N",
                         help="seed of the random inputs (default: %(default)s)")  # fmt: skip
    command.add_argument("--workers", type=positive, default=1, metavar="N",
                         help="exercises whose hunts are proved at the same time (default: %(default)s)")  # fmt: skip
    command.add_argument("--results", type=Path, metavar="FILE.jsonl",
                         help="keep each exercise's results in this file; those it already has for the same options "
                              "and unchanged code are not proved again")  # fmt: skip
    command.set_defaults(run=_prove)


def _add_hunt(command: argparse.ArgumentParser) -> None:
    command.add_argument("hunt", metavar="ID", help=ID)
    command.add_argument("--student", metavar="NAME", help="for whom to draw; by default the current user")
    command.add_argument("--seed", type=int, default=0, metavar="N",
                         help="which of the student's hunts, with its inputs (default: %(default)s)")  # fmt: skip
    _add_faults(command)


def _add_faults(command: argparse.ArgumentParser) -> None:
    command.add_argument("--faults", type=int, choices=range(1, MAX_FAULTS + 1), default=1, metavar="N",
                         help=f"faults in the code of a hunt, at most {MAX_FAULTS} (default: %(default)s)")  # fmt: skip


def _line_numbers(text: str) -> tuple[int, ...]:
    """The numbers in `3,5`; none in an empty text, for who suspects no line."""
    try:
        return tuple(int(part) for part in text.split(",")) if text else ()
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of line numbers such as 3,5") from None


def _chosen(arguments: argparse.Namespace) -> Hunt:
    """The hunt that is named, or drawn. Raises BadInput."""
    try:
        if "/" in arguments.hunt:
            return make.find(arguments.hunt)
        exercise = registry.find(arguments.hunt)
        return make.draw(exercise, arguments.student, arguments.seed, arguments.faults)
    except make.UnknownHunt as error:
        raise BadInput(str(error)) from None


def _list(arguments: argparse.Namespace) -> int:
    """Prints a line for each hunt, with its level where that is known or exercises are named."""
    known = {proof.hunt: proof for one in _read_results(arguments) for proof in one.proofs}
    count = 0
    for exercise in _exercises(arguments.exercises):
        for hunt in make.hunts(exercise, arguments.faults):
            count += 1
            proof = known.get(hunt.id)
            level = f"level {proof.difficulty}  {', '.join(proof.broken)}" if proof else "level not measured"
            print(f"{hunt.id:64} lines changed: {hunt.changed_lines}  {level}")
    print(f"{count} hunts")
    return 0


def _read_results(arguments: argparse.Namespace) -> Iterator[Any]:
    """The proofs in the file that was named; for named exercises without one, their proofs are made now."""
    from autograder.hunts.prove import prove_exercise

    if arguments.results is not None:
        for file in _files_of_levels(arguments.results, arguments.faults):
            found = (file.find(exercise) for exercise in _exercises(arguments.exercises))
            yield from (one for (one,) in filter(None, found))
    elif arguments.exercises:
        for exercise in _exercises(arguments.exercises):
            yield from prove_exercise(exercise.id, 0, arguments.faults, None)


def _files_of_levels(path: Path, faults: int) -> list[Any]:
    """What the file holds of hunts with so many faults: of each seed and sample, whole ones last. Raises BadInput."""
    if not path.exists():
        raise BadInput(f"there is no file {path}: `autograder hunts prove --results` writes it")
    every = _results_file(path, {}).all_options
    among = sorted((one for one in every if one.get("faults") == faults), key=lambda one: one.get("sample") is None)
    if not among:
        again = f"`autograder hunts prove --faults {faults} --results {path}` adds them"
        raise BadInput(f"{path} has no results of hunts with {faults} faults: {again}")
    return [_results_file(path, options) for options in among]


def _results_file(path: Path, options: dict[str, Any]) -> Any:
    from autograder.corpus.results_file import CorpusResultsFile, ResultsFileError
    from autograder.hunts.prove import ExerciseProofs

    try:
        return CorpusResultsFile(path, options, (ExerciseProofs,), "hunts prove")
    except (ResultsFileError, OSError) as error:
        raise BadInput(str(error)) from None


def _exercises(names: Sequence[str]) -> list[Any]:
    return [registry.find(name) for name in names] or list(registry.exercises())


def _show(arguments: argparse.Namespace) -> int:
    """Prints the code and the symptom; for a hunt that was named, also where the faults are."""
    from autograder.hunts.task import NoSymptom, task

    hunt = _chosen(arguments)
    try:
        shown = task(hunt, arguments.seed)
    except NoSymptom as error:
        raise BadInput(str(error)) from None
    if arguments.json:
        print(json.dumps(shown))
        return 0
    print(task_text(shown))
    if "/" in arguments.hunt:
        places = zip(hunt.names, hunt.fault_lines, strict=True)
        print("\nFor instructors: " + "; ".join(f"{name} in line {', '.join(map(str, at))}" for name, at in places))
    return 0


def _check(arguments: argparse.Namespace) -> int:
    """Prints the verdict on what is handed in: 0 passed, 1 not, 2 if it could not be graded."""
    hunt = _chosen(arguments)
    test, repair = _source(arguments.test), _source(arguments.repair)
    if test is repair is arguments.lines is None:
        raise BadInput("nothing is handed in: give --lines, --test or --repair")
    from autograder.hunts.judge import HuntSubmission, judge

    try:
        verdict = judge(hunt, HuntSubmission(arguments.lines, test, repair), choose(trust=arguments.trust))
    except SandboxError as error:
        raise BadInput(f"{error} (--trust)") from error
    found = verdict.as_json()
    print(json.dumps(found) if arguments.json else verdict_text(found))
    return {"passed": 0, "not_graded": 2}.get(verdict.status, 1)


def _source(file: Path | None) -> str | None:
    """The text of a file that is handed in, None without one. Raises BadInput."""
    if file is None:
        return None
    try:
        return read_small(file, LARGEST).decode("utf-8-sig")
    except FileNotFoundError:
        raise BadInput(f"there is no file {file}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{file} cannot be read: {reason(error)}") from None


def _prove(arguments: argparse.Namespace) -> int:
    """Prints what does not hold, and a summary; 1 if a hunt has a complaint."""
    from autograder.corpus.parallel import measure_each
    from autograder.hunts.prove import prove_exercise, summary

    options = {name: getattr(arguments, name) for name in ("seed", "faults", "sample")}
    file = _results_file(arguments.results, options) if arguments.results else None
    exercises = _exercises(arguments.only)
    found = [results for exercise in exercises if file for results in file.find(exercise) or ()]
    done = {one.exercise for one in found}
    names = [exercise.id for exercise in exercises if exercise.id not in done]
    for name, results in measure_each(names, partial(prove_exercise, **options), arguments.workers):
        if file:
            file.append(registry.find(name), results)
        found += results
        print(f"{name:32} {summary(results[0].proofs)}", flush=True)
    complaints = [line for one in found for line in one.complaints]
    for line in complaints:
        print(f"✗ {line}")
    print(summary([proof for one in found for proof in one.proofs]))
    return 1 if complaints else 0
