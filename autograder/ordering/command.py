"""`autograder order`: prints an exercise's lines to put in order, judges an order of them, and proves all of it."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from functools import partial
from typing import Any

from autograder.console import help_texts
from autograder.console.base import BadInput, positive
from autograder.exercises import registry
from autograder.ordering.answer import BadOrder, read_order
from autograder.ordering.make import NoPuzzle, Puzzle, make
from autograder.ordering.words import task, task_text, verdict_text
from autograder.sandbox import SandboxError, choose

PROVE = "prove"
CALL = 'autograder order {exercise} --seed {seed} --answer "3 1 2:1"'


def add_options(order: argparse.ArgumentParser) -> None:
    """Add what `run` reads."""
    order.add_argument("ids", nargs="+", metavar="ID",
                       help="an exercise id; or `prove` and the ids of exercises, by default all")  # fmt: skip
    order.add_argument("--answer", metavar="ORDER",
                       help="judge this order: numbers of lines, with steps of indentation after a colon")  # fmt: skip
    order.add_argument("--student", metavar="NAME", help="for whom to shuffle; by default the current user")
    order.add_argument("--seed", type=int, default=0, metavar="N",
                       help="which of the student's shuffles, with its distractors (default: %(default)s)")  # fmt: skip
    order.add_argument("--json", action="store_true", help="print one JSON object")
    order.add_argument("--trust", action="store_true", help=help_texts.TRUST)
    order.add_argument("--orders", type=partial(positive, what="orders"), default=100, metavar="N",
                       help="with prove: at most so many equivalent orders each (default: %(default)s)")  # fmt: skip
    order.add_argument("--shuffles", type=partial(positive, what="shuffles"), default=8, metavar="N",
                       help="with prove: so many puzzles of other students each, answered by a right order (default: "
                            "%(default)s)")  # fmt: skip
    order.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Prints the puzzle, or the verdict: 0 passed, 1 not, 2 if it could not be judged. Raises BadInput."""
    name, *others = arguments.ids
    if name == PROVE:
        return _prove(others, arguments)
    if others:
        raise BadInput(f"one exercise at a time: autograder order {name}")
    try:
        puzzle = make(registry.find(name), arguments.student, arguments.seed)
    except NoPuzzle as error:
        raise BadInput(str(error)) from None
    if arguments.answer is not None:
        return _judge(puzzle, arguments)
    shown = task(puzzle)
    print(json.dumps(shown) if arguments.json else task_text(shown, CALL.format(**shown)))
    return 0


def _judge(puzzle: Puzzle, arguments: argparse.Namespace) -> int:
    from autograder.ordering.judge import judge

    try:
        verdict = judge(puzzle, read_order(puzzle, arguments.answer), choose(trust=arguments.trust)).as_json()
    except BadOrder as error:
        raise BadInput(str(error)) from None
    except SandboxError as error:
        raise BadInput(f"{error} (--trust)") from error
    print(json.dumps(verdict) if arguments.json else verdict_text(verdict))
    return {"passed": 0, "failed": 1}.get(verdict["status"], 2)


def _prove(names: Sequence[str], arguments: argparse.Namespace) -> int:
    """Prints a line for each exercise, what does not hold, and a summary; 1 if something does not."""
    from autograder.ordering.prove import prove_exercise, summary

    ids = [registry.find(name).id for name in names] or [exercise.id for exercise in registry.exercises()]
    found: list[Any] = []
    for name in ids:
        proof = prove_exercise(name, arguments.orders, arguments.seed, arguments.shuffles)
        found.append(proof)
        counts = f"lines: {proof.lines}  equivalent orders: {proof.orders}  mistakes: {proof.mistakes}"
        print(f"{name:32} {proof.reason or counts}", flush=True)
        for complaint in proof.complaints:
            print(f"✗ {complaint}", flush=True)
    print(summary(found))
    return 1 if any(proof.complaints for proof in found) else 0
