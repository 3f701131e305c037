"""`autograder corpus`: passes every right answer, and is every wrong one caught and named?"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from autograder.console.base import BadInput, positive
from autograder.corpus.goals import goal_lines, goals
from autograder.exercises import registry
from autograder.exercises.answers import answer
from autograder.sandbox import SandboxError, choose

OTHER_OPTIONS = {"report": False, "mutants": False, "seed": 0, "seeds": None, "workers": 1}  # of answers in the course


def add_options(command: argparse.ArgumentParser) -> None:
    """Add what `run` reads."""
    command.add_argument(
        "exercises", nargs="*", metavar="ID", help="exercise ids, by default all; or `show ID NAME` to print one answer"
    )
    command.add_argument(
        "--report", action="store_true", help="list each answer that was misjudged, and measure how mistakes are named"
    )
    command.add_argument("--mutants", action="store_true", help="also test mutants of the references")
    command.add_argument("--seed", type=int, default=OTHER_OPTIONS["seed"], metavar="N",
                         help="seed of the random inputs (default: %(default)s)")  # fmt: skip
    command.add_argument("--seeds", type=partial(positive, what="seeds"), metavar="N",
                         help="only ask each answer in a sandbox at N seeds, from --seed on, and name those whose "
                              "points depend on the seed")  # fmt: skip
    command.add_argument("--workers", type=positive, default=1, metavar="N",
                         help="exercises that are measured at the same time (default: %(default)s)")  # fmt: skip
    command.add_argument("--results", type=Path, metavar="FILE.jsonl",
                         help="keep each exercise's results in this file; those it already has for the same options "
                              "and unchanged code are not measured again")  # fmt: skip
    command.add_argument("--blind", type=Path, metavar="DIR",
                         help="only grade the answers in this folder, whose authors saw the statements alone: "
                              "ID/right/NAME.py and ID/wrong/NAME.py")  # fmt: skip
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Prints what was measured; 1 if an answer is misjudged. Raises BadInput."""
    if arguments.exercises[:1] == ["show"]:
        return _show(arguments.exercises[1:])
    if arguments.blind:
        return _blind(arguments)
    if arguments.seeds:
        return _stability(arguments)
    from autograder.checks.mutation import total
    from autograder.corpus import diagnosis as measure
    from autograder.corpus.judge import combine_scores, lines_of

    measured = []
    for one in _measure_each(_exercise_ids(arguments), arguments):
        measured.append(one)
        for score in filter(None, one):
            _tell(score, arguments.report)
    scores, named, diagnoses, mutants = ([one for one in column if one] for column in zip(*measured, strict=True))
    print(combine_scores(scores).line)
    if named:
        print(lines_of(named).line)
        print(measure.total(diagnoses).line)
        print(goal_lines(goals(combine_scores(scores), lines_of(named), measure.total(diagnoses))))
    if mutants:
        print(total(mutants).line)
    return 0 if all(score.sound for score in [*scores, *mutants]) else 1


def _exercise_ids(arguments: argparse.Namespace) -> list[str]:
    return [registry.find(name).id for name in arguments.exercises] or [one.id for one in registry.exercises()]


def _blind(arguments: argparse.Namespace) -> int:
    """Grade answers by other hands; 1 if one is misjudged."""
    from autograder.corpus import blind

    idle = [name for name, default in OTHER_OPTIONS.items() if getattr(arguments, name) != default]
    if idle:
        raise BadInput(f"--blind grades each answer once, as in a lesson: leave out --{' and --'.join(idle)}")
    rows = []
    found = blind.find(arguments.blind, [registry.find(name).id for name in arguments.exercises])
    for row in blind.measure(found, choose(), arguments.results):
        rows.append(row)
        print("✗ " * blind.is_misjudged(row) + blind.line_of(row), flush=True)
    print(blind.summary(rows))
    return 1 if any(map(blind.is_misjudged, rows)) else 0


def _stability(arguments: argparse.Namespace) -> int:
    """Ask each collected answer in a box at many seeds; 1 if a judgement depends on the seed or is wrong."""
    from autograder.corpus.stability import combine

    if arguments.report or arguments.mutants:
        raise BadInput("--seeds measures points alone: leave out --report and --mutants")
    measured = []
    for (stability,) in _measure_each(_exercise_ids(arguments), arguments):
        measured.append(stability)
        print(stability.line, flush=True)
        for line in [*stability.complaints, *(f"(other points) {note}" for note in stability.notes)]:
            print(f"  {line}", flush=True)
    print(combine(measured).line)
    return 0 if all(stability.sound for stability in measured) else 1


def _measure_each(names: list[str], arguments: argparse.Namespace) -> Iterator[tuple[Any, ...]]:
    """What `measure_exercise` says of each, in their order; those in the results file are not measured again."""
    file = _results_file(arguments)
    found = {name: file.find(registry.find(name)) for name in names} if file else {}
    new = _measure_new([name for name in names if not found.get(name)], arguments)
    done = {name: results for name, results in found.items() if results}
    for name in names:
        while name not in done:  # with workers another may be the first to be done: its results are kept at once
            measured, results = next(new)
            done[measured] = results
            if file:
                file.append(registry.find(measured), results)
        yield done[name]


def _results_file(arguments: argparse.Namespace) -> Any:
    """The results file that was named, or None."""
    if arguments.results is None:
        return None
    from autograder.corpus.results_file import CorpusResultsFile, ResultsFileError
    from autograder.corpus.stability import Stability

    options = {name: getattr(arguments, name) for name in ("seed", "report", "mutants")}
    try:
        if arguments.seeds:
            return CorpusResultsFile(arguments.results, options | {"seeds": arguments.seeds}, (Stability,))
        return CorpusResultsFile(arguments.results, options)
    except (ResultsFileError, OSError) as error:
        raise BadInput(str(error)) from None


def _measure_new(names: list[str], arguments: argparse.Namespace) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """Names and what `measure_exercise` says of them, each as soon as it is done; several at a time with workers."""
    from autograder.corpus.parallel import measure_each

    each = partial(measure_exercise, seed=arguments.seed, report=arguments.report, mutants=arguments.mutants)
    if arguments.seeds:
        each = partial(_measure_seeds, seeds=range(arguments.seed, arguments.seed + arguments.seeds))
    yield from measure_each(names, each, arguments.workers)


def measure_exercise(name: str, seed: int, report: bool, mutants: bool) -> tuple[Any, ...]:
    """An exercise's score, first wrong lines, diagnosis and mutants; None for what is not asked for."""
    from autograder.checks.mutation import mutation_score
    from autograder.corpus.diagnosis import measure_diagnosis
    from autograder.corpus.judge import ask_reference, judge, lines

    exercise = registry.find(name)
    question_sets = ask_reference(exercise, seed)
    return (
        judge(exercise, question_sets),
        lines(exercise, question_sets) if report else None,
        measure_diagnosis(exercise, question_sets, seed) if report else None,
        mutation_score(exercise, question_sets) if mutants else None,
    )


def _measure_seeds(name: str, seeds: Sequence[int]) -> tuple[Any, ...]:
    """The stability of an exercise's answers, each asked in this process's sandbox."""
    from autograder.corpus.parallel import one_thread
    from autograder.corpus.stability import measure_stability

    one_thread()
    try:
        return (measure_stability(registry.find(name), seeds, choose()),)
    except SandboxError as error:
        raise BadInput(str(error)) from error


def _show(wanted: list[str]) -> int:
    """Print the whole of one collected answer."""
    if len(wanted) != 2:
        raise BadInput("`autograder corpus show` needs two names: the exercise's and the answer's")
    try:
        print(answer(registry.find(wanted[0]), wanted[1]).read_text(encoding="utf-8"), end="")
    except LookupError as error:
        raise BadInput(error.args[0]) from None
    return 0


def _tell(score: Any, report: bool) -> None:
    print(score.line, flush=True)
    for line in [*getattr(score, "complaints", ()), *score.notes, *getattr(score, "edge_shares", ())] if report else ():
        print(f"  {line}")
