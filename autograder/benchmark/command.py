"""`autograder benchmark export DIR`, `autograder benchmark run`, `autograder benchmark list`. Light until it is run."""

from __future__ import annotations

import argparse
import hashlib
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.benchmark.dataset import DatasetError, answer_rows, dataset, export
from autograder.console import help_texts
from autograder.exercises import registry
from autograder.sandbox import SandboxError, choose
from tfkit_course.command_line import add_command

if TYPE_CHECKING:
    from autograder.benchmark.dataset import Row
    from autograder.benchmark.grader import BenchmarkGrader
    from autograder.benchmark.measure import Result

Task = tuple[tuple[str, ...], "Row"]  # the names of graders, and the answer that they judge
SEED = 20261123
STOPPED = 130  # by Ctrl-C, as a shell reports it


class BenchmarkError(ValueError):
    """What was asked for cannot be done; the message says what, and what to do."""


def add_parsers(command: argparse.ArgumentParser) -> None:
    """Add the subcommands `export`, `list` and `run` to the parser."""
    commands = command.add_subparsers(required=True, metavar="COMMAND", title="commands")
    texts = help_texts.BENCHMARK_COMMANDS
    export = add_command(commands, "export", texts["export"])
    export.add_argument("folder", type=Path, metavar="DIR",
                        help="the folder to write, which must be new or empty, or a new zip file")  # fmt: skip
    _add_blind(export, "add the answers in this folder as blind.jsonl (may be repeated)")
    export.set_defaults(run=_export)
    add_command(commands, "list", texts["list"]).set_defaults(run=_list)
    runs = add_command(commands, "run", texts["run"])
    runs.add_argument("--grader", action="append", metavar="NAME",
                      help="only this grader (may be repeated); by default all that are installed")  # fmt: skip
    runs.add_argument("--exercise", action="append", metavar="ID",
                      help="only this exercise (may be repeated); by default all that the graders cover")  # fmt: skip
    _add_blind(runs, "judge the answers in this folder instead of the collected ones, and print their table "
               "(may be repeated); as `autograder corpus --blind` reads them")  # fmt: skip
    runs.add_argument("--sample", type=int, metavar="N",
                      help="at most N answers of each exercise and kind; by default all")  # fmt: skip
    runs.add_argument("--seed", type=int, default=SEED, metavar="N", help="seed of the sample (default: %(default)s)")
    runs.add_argument("--workers", type=int, default=1, metavar="N",
                      help="number of answers that are judged at the same time (default: %(default)s)")  # fmt: skip
    runs.add_argument("-o", "--output", type=Path, metavar="DIR",
                      help="write results.jsonl and table.md there; answers that results.jsonl already has are "
                      "not judged again")  # fmt: skip
    runs.set_defaults(run=_run)


def _add_blind(command: argparse.ArgumentParser, text: str) -> None:
    command.add_argument("--blind", action="append", default=[], type=Path, metavar="DIR", help=text)


def _export(arguments: argparse.Namespace) -> int:
    try:
        described = export(arguments.folder, _blind_rows(arguments.blind))
    except DatasetError as error:
        raise BenchmarkError(str(error)) from error
    counts = ", ".join(f"{value} {key}" for key, value in described["counts"].items())
    print(f"wrote {arguments.folder}: {described['name']} {described['version']}: {counts}")
    return 0


def _blind_rows(folders: Sequence[Path]) -> list[Row]:
    """The rows of the answers in these folders; to read them loads torch."""
    if not folders:
        return []
    from autograder.benchmark.blind import blind_rows

    return list(blind_rows(folders))


def _list(arguments: argparse.Namespace) -> int:
    from autograder.benchmark.grader import graders

    exercises = registry.exercises()
    for name, grader in graders().items():
        print(f"{name:24} {sum(map(grader.covers, exercises)):3} exercises  {grader.title}: {grader.follows}")
    return 0


def _run(arguments: argparse.Namespace) -> int:
    from autograder.benchmark import measure

    chosen = _graders(arguments.grader)
    if arguments.workers < 1:
        raise BenchmarkError(f"--workers {arguments.workers} must be 1 or more")
    rows = _rows(arguments, chosen)
    version = _version(arguments.blind)
    before = _results(arguments.output, version)
    try:
        backend = choose()
    except SandboxError as error:
        raise BenchmarkError(str(error)) from error
    done = {(one.grader, one.id) for one in before}
    ids = {row["id"] for row in rows}
    results = [one for one in before if one.id in ids and one.grader in chosen]
    left = [(tuple(name for name in chosen if (name, row["id"]) not in done), row) for row in rows]
    try:
        for found in _judged([(names, row) for names, row in left if names], arguments.workers):
            results += _keep(found, arguments.output)
            last = found[-1].id if found else ""
            print(f"\r{len(results)} judgements, {last:60.60}", end="", file=sys.stderr, flush=True)
    except KeyboardInterrupt:
        kept = f"{arguments.output} keeps them, and the same command continues" if arguments.output else \
            "they are lost, since --output was not given"  # fmt: skip
        print(f"\nautograder: stopped after {len(results)} judgements: {kept}", file=sys.stderr)
        return STOPPED
    print(file=sys.stderr)
    part = f"at most {arguments.sample} answers of each exercise and kind" if arguments.sample else "all answers"
    head = f"Dataset {version}; {part}; seed {arguments.seed}; box {backend.name}.\n\n"
    titles = {name: grader.title for name, grader in chosen.items()}
    text = head + (measure.blind_table if arguments.blind else measure.table)(results, titles)
    print(text, end="")
    failed = [one for one in results if one.failed]
    if failed:
        print(f"autograder: {len(failed)} could not be judged; the first reason: {failed[0].failed}", file=sys.stderr)
    if arguments.output:
        (arguments.output / "table.md").write_text(text, encoding="utf-8")
    return 2 if failed else 0


def _judged(tasks: Sequence[Task], workers: int) -> Iterator[list[Result]]:
    """The results of each task, as they come. Each worker is a process with boxes of its own."""
    from concurrent.futures import ProcessPoolExecutor, as_completed
    from multiprocessing import get_context

    if workers == 1 or not tasks:
        yield from map(_judge, tasks)
        return
    with ProcessPoolExecutor(workers, get_context("spawn"), signal.signal, (signal.SIGINT, signal.SIG_IGN)) as pool:
        try:
            for done in as_completed([pool.submit(_judge, task) for task in tasks]):
                yield done.result()
        except BaseException:  # Ctrl-C above all: what has not begun is left for the next run
            pool.shutdown(cancel_futures=True)
            raise


def _judge(task: Task) -> list[Result]:
    from autograder.benchmark import measure
    from autograder.benchmark.grader import graders

    names, row = task
    known = graders()
    return list(measure.judge_all({name: known[name] for name in names}, [row], choose()))


def _graders(names: list[str] | None) -> dict[str, BenchmarkGrader]:
    from autograder.benchmark.grader import graders

    known = graders()
    if unknown := [name for name in names or () if name not in known]:
        raise BenchmarkError(f"there is no grader {unknown[0]}; available: {', '.join(known)}")
    return {name: grader for name, grader in known.items() if not names or name in names}


def _rows(arguments: argparse.Namespace, chosen: Mapping[str, BenchmarkGrader]) -> list[Row]:
    """The answers to be judged: of the named exercises, or of those that a grader other than this project's covers."""
    from autograder.benchmark import measure

    if arguments.sample is not None and arguments.sample < 1:
        raise BenchmarkError(f"--sample {arguments.sample} leaves no answers: must be 1 or more")
    others = [grader for name, grader in chosen.items() if name != measure.TFKIT] or list(chosen.values())
    exercises = [registry.find(name) for name in arguments.exercise or ()] or [
        one for one in registry.exercises() if any(grader.covers(one) for grader in others)
    ]
    rows = list(answer_rows(exercises))
    if arguments.blind:
        from autograder.benchmark.blind import blind_rows, to_judge

        rows = [to_judge(row) for row in blind_rows(arguments.blind, [one.id for one in exercises])]
    return measure.sample(rows, arguments.sample, arguments.seed)


def _version(blind: Sequence[Path]) -> str:
    """What the judgements are about: the version of the dataset, or a hash of the answers in these folders."""
    if not blind:
        return str(dataset()[1]["version"])
    sums = "".join(f"{row['id']} {row['sha256']}\n" for row in _blind_rows(blind))
    return f"{'+'.join(folder.name for folder in blind)}+{hashlib.sha256(sums.encode()).hexdigest()[:12]}"


def _results(folder: Path | None, version: str) -> list:
    """What the folder has of this version of the dataset. Raises BenchmarkError if it is of another."""
    from autograder.benchmark.measure import from_lines

    if folder is None:
        return []
    file, label = folder / "results.jsonl", folder / "dataset.txt"
    if not file.exists():
        folder.mkdir(parents=True, exist_ok=True)
        label.write_text(version + "\n", encoding="utf-8")
        return []
    there = label.read_text(encoding="utf-8").strip() if label.exists() else "no known version"
    if there != version:
        raise BenchmarkError(f"{folder} has judgements of dataset {there}, and this is {version}: name a new folder")
    try:
        found = from_lines(file.read_text(encoding="utf-8"))
        # two concurrent runs may have judged the same answer
        return list({(one.grader, one.id): one for one in found if not one.failed}.values())
    except ValueError as error:
        raise BenchmarkError(f"{file} cannot be read ({error}): move it away to start a new one") from error


def _keep(results: list, folder: Path | None) -> list:
    """Append to results.jsonl, so that results survive Ctrl-C."""
    from autograder.benchmark.measure import as_lines

    if folder and results:
        with (folder / "results.jsonl").open("a", encoding="utf-8") as file:
            file.write(as_lines(results))
    return results
