"""`autograder hunts`: lists, shows, grades and proves bug hunts."""

from __future__ import annotations

import argparse
import itertools
import json
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from autograder.console import help_texts
from autograder.console.base import BadInput, positive, seed_number
from autograder.exercises import registry
from autograder.hunts import make, pages
from autograder.hunts.make import MAX_FAULTS, Hunt
from autograder.hunts.pages import PageHunt
from autograder.hunts.terminal import task_text, verdict_text
from autograder.sandbox import SandboxError, choose
from tfkit_course.command_line import add_command
from tfkit_course.small_file import read_small, reason

LARGEST = 1 << 20  # bytes of a source that is handed in
ID = (
    "an exercise or a page such as page.gpt2, whose hunt is drawn by student and seed; or a hunt, as `autograder hunts "
    "list` shows it"
)
PAGES = "hunts in whole models instead: pages of tfkit with a fault"


def add_parsers(hunts: argparse.ArgumentParser) -> None:
    """Add the subcommands."""
    commands = hunts.add_subparsers(required=True, metavar="COMMAND", title="commands")
    _list_parser(add_command(commands, "list", help_texts.HUNTS_LIST))
    _show_parser(add_command(commands, "show", help_texts.HUNTS_SHOW))
    _check_parser(add_command(commands, "check", help_texts.HUNTS_CHECK))
    _prove_parser(add_command(commands, "prove", help_texts.HUNTS_PROVE))


def _list_parser(command: argparse.ArgumentParser) -> None:
    command.add_argument("exercises", nargs="*", metavar="EXERCISE", help="only hunts of these exercises or pages")
    command.add_argument("--pages", action="store_true", help=PAGES)
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
                              "parameter `answer` or ones called as what the exercise defines; of a page `page`, its "
                              "module")  # fmt: skip
    command.add_argument("--lines", type=_line_numbers, metavar="N,N",
                         help="the numbers of the lines that are suspected, as `show` counts them")  # fmt: skip
    command.add_argument("--json", action="store_true", help="print the verdict as one JSON object")
    command.add_argument("--trust", action="store_true", help=help_texts.TRUST)
    command.set_defaults(run=_check)


def _prove_parser(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--only", nargs="+", default=[], metavar="EXERCISE", help="only hunts of these exercises or pages"
    )
    command.add_argument("--pages", action="store_true", help=PAGES)
    _add_faults(command)
    command.add_argument("--sample", type=partial(positive, what="hunts"), metavar="N",
                         help="only N hunts of each exercise, drawn by the seed")  # fmt: skip
    command.add_argument("--seed", type=seed_number, default=0, metavar="N",
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
    command.add_argument("--seed", type=seed_number, default=0, metavar="N",
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


def _chosen(arguments: argparse.Namespace) -> Hunt | PageHunt:
    """The hunt that is named, or drawn. Raises BadInput."""
    try:
        if pages.is_page(arguments.hunt):
            _refuse_several_faults(arguments)
            if "/" in arguments.hunt:
                return pages.find_page_hunt(arguments.hunt)
            return pages.draw_page_hunt(arguments.hunt, arguments.student, arguments.seed)
        if "/" in arguments.hunt:
            return make.find(arguments.hunt)
        exercise = registry.find(arguments.hunt)
        return make.draw(exercise, arguments.student, arguments.seed, arguments.faults)
    except make.UnknownHunt as error:
        raise BadInput(str(error)) from None


def _refuse_several_faults(arguments: argparse.Namespace) -> None:
    if arguments.faults != 1:
        raise BadInput("a hunt in a page has one fault: leave --faults out")


def _names_of_pages(named: Sequence[str], arguments: argparse.Namespace) -> list[str]:
    """The pages that are meant: those that are named, or all with --pages; none for exercises. Raises BadInput."""
    if not arguments.pages and not any(map(pages.is_page, named)):
        return []
    _refuse_several_faults(arguments)
    if other := [name for name in named if not pages.is_page(name)]:
        raise BadInput(f"{other[0]} is no page: their names begin with {pages.PREFIX}")
    try:
        return [pages.page(name).name for name in named] or list(pages.pages())
    except make.UnknownHunt as error:
        raise BadInput(str(error)) from None


def _list(arguments: argparse.Namespace) -> int:
    """Prints a line for each hunt, with its level where that is known or exercises are named."""
    names = _names_of_pages(arguments.exercises, arguments)
    known = {proof.hunt: proof for one in _read_results(arguments, names) for proof in one.proofs}
    hunts: Iterator[Hunt | PageHunt] = (
        itertools.chain.from_iterable(map(pages.page_hunts, names))
        if names
        else (hunt for one in _exercises(arguments.exercises) for hunt in make.hunts(one, arguments.faults))
    )
    found = list(hunts)
    for hunt in found:
        proof = known.get(hunt.id)
        level = f"level {proof.difficulty}  {', '.join(proof.broken)}" if proof else "level not measured"
        print(f"{hunt.id:64} lines changed: {hunt.changed_lines}  {level}")
    print(f"{len(found)} hunts")
    return 0


def _read_results(arguments: argparse.Namespace, names: Sequence[str]) -> Iterator[Any]:
    """The proofs in the file that was named; for what is named without a file, proofs that are made now."""
    from autograder.hunts.page_prove import prove_page
    from autograder.hunts.prove import prove_exercise

    subjects = [pages.page(name) for name in names] or _exercises(arguments.exercises)
    if arguments.results is not None:
        for file in _files_of_levels(arguments.results, arguments.faults):
            yield from (one for (one,) in filter(None, map(file.find, subjects)))
    elif arguments.exercises:
        for subject in subjects:
            prove = prove_page if names else prove_exercise
            yield from prove(subject.id, 0, arguments.faults, None)


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
        return CorpusResultsFile(path, options, (ExerciseProofs,), "hunts prove", _code_of)
    except (ResultsFileError, OSError) as error:
        raise BadInput(str(error)) from None


def _code_of(subject: Any) -> str:
    """A hash of all that the proofs of an exercise's or a page's hunts depend on."""
    from autograder.corpus.results_file import hash_of_exercise
    from autograder.hunts.page_prove import hash_of_page

    return hash_of_page(subject) if isinstance(subject, pages.ModelPage) else hash_of_exercise(subject)


def _exercises(names: Sequence[str]) -> list[Any]:
    return [registry.find(name) for name in names] or list(registry.exercises())


def _show(arguments: argparse.Namespace) -> int:
    """Prints the code and the symptom; for a hunt that was named, also where the faults are."""
    hunt = _chosen(arguments)
    shown = _task(hunt, arguments.seed)
    if arguments.json:
        print(json.dumps(shown))
        return 0
    print(task_text(shown))
    if "/" in arguments.hunt:
        places = zip(hunt.names, hunt.fault_lines, strict=True)
        print("\nFor instructors: " + "; ".join(f"{name} in line {', '.join(map(str, at))}" for name, at in places))
        if isinstance(hunt, PageHunt):
            print(hunt.operator.description)
    return 0


def _task(hunt: Hunt | PageHunt, seed: int) -> dict[str, Any]:
    """What a student is shown. Raises BadInput."""
    from autograder.hunts.page_symptom import page_task
    from autograder.hunts.task import NoSymptom, task
    from autograder.sandbox.client import StudentError

    try:
        if isinstance(hunt, PageHunt):
            return page_task(hunt, seed, choose(trust=True))  # the code is our own
        return task(hunt, seed)
    except NoSymptom as error:
        raise BadInput(str(error)) from None
    except StudentError as error:
        raise BadInput(f"{hunt.id.partition('/')[0]}: the page did not run ({error})") from None


def _check(arguments: argparse.Namespace) -> int:
    """Prints the verdict on what is handed in: 0 passed, 1 not, 2 if it could not be graded."""
    hunt = _chosen(arguments)
    test, repair = _source(arguments.test), _source(arguments.repair)
    if test is repair is arguments.lines is None:
        raise BadInput("nothing is handed in: give --lines, --test or --repair")
    from autograder.hunts.judge import HuntSubmission, judge
    from autograder.hunts.page_judge import judge_page

    handed_in = HuntSubmission(arguments.lines, test, repair)
    try:
        box = choose(trust=arguments.trust)
        verdict = judge_page(hunt, handed_in, box) if isinstance(hunt, PageHunt) else judge(hunt, handed_in, box)
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
    from autograder.hunts.page_prove import prove_page
    from autograder.hunts.prove import prove_exercise, summary

    names = _names_of_pages(arguments.only, arguments)
    options = {name: getattr(arguments, name) for name in ("seed", "faults", "sample")}
    file = _results_file(arguments.results, options) if arguments.results else None
    subjects = {one.id: one for one in map(pages.page, names)} or {one.id: one for one in _exercises(arguments.only)}
    found = [results for one in subjects.values() if file for results in file.find(one) or ()]
    left = [name for name in subjects if name not in {one.exercise for one in found}]
    prove = partial(prove_page if names else prove_exercise, **options)
    for name, results in measure_each(left, prove, arguments.workers):
        if file:
            file.append(subjects[name], results)
        found += results
        print(f"{name:32} {summary(results[0].proofs)}", flush=True)
    complaints = [line for one in found for line in one.complaints]
    for line in complaints:
        print(f"✗ {line}")
    print(summary([proof for one in found for proof in one.proofs]))
    return 1 if complaints else 0
