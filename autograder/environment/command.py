"""`autograder environment tasks` and `autograder environment judge`, which load no torch: processes of their own do."""

from __future__ import annotations

import argparse
import json
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from queue import Queue
from typing import IO, Any

from autograder.api import HINTS
from autograder.assistants.statement import StatementError
from autograder.console import help_texts
from autograder.console.base import BadInput, positive, seed_number
from autograder.environment.pool import Environment
from autograder.exercises import registry
from tfkit_course.command_line import add_command
from tfkit_course.small_file import parse_json

LONGEST_LINE = 4 << 20  # bytes; a conversation of several turns fits
WAITING = 4  # lines that have been read and not been judged, for each worker
Answer = dict[str, Any]


class BadLine(ValueError):
    """A line that cannot be judged; the message says why."""


def add_parsers(command: argparse.ArgumentParser) -> None:
    """Add the subcommands `tasks` and `judge` to the parser."""
    commands = command.add_subparsers(required=True, metavar="COMMAND", title="commands")
    tasks = add_command(commands, "tasks", help_texts.ENVIRONMENT_COMMANDS["tasks"])
    judge = add_command(commands, "judge", help_texts.ENVIRONMENT_COMMANDS["judge"])
    for parser in (tasks, judge):
        parser.add_argument("--exercise", action="append", default=[], dest="exercises", metavar="ID",
                            help="only this exercise (may be repeated); by default all that are installed")  # fmt: skip
    judge.add_argument("--workers", type=partial(positive, what="workers"), default=2, metavar="N",
                       help="number of replies that are judged at the same time (default: %(default)s)")  # fmt: skip
    judge.add_argument("--hints", type=int, choices=range(HINTS + 1), default=0,
                       help="steps of help in the feedback: 0 none, which is fastest; 1 the misconception; 2 what was "
                       "seen, and the line; 3 the smallest counter-example (default: %(default)s)")  # fmt: skip
    judge.add_argument("--seed", type=seed_number, default=0, metavar="N",
                       help="seed of the inputs (default: %(default)s)")  # fmt: skip
    judge.add_argument("--trust", action="store_true", help="judge without isolation where no sandbox works")
    tasks.set_defaults(run=_tasks)
    judge.set_defaults(run=_judge)


def _tasks(arguments: argparse.Namespace) -> int:
    with Environment(arguments.exercises) as environment:
        try:
            for task in environment.tasks:
                print(json.dumps(task, ensure_ascii=False))
        except StatementError as error:
            raise BadInput(str(error)) from error
    return 0


def _judge(arguments: argparse.Namespace) -> int:
    how = {"hints": arguments.hints, "workers": arguments.workers, "seed": arguments.seed, "trust": arguments.trust}
    missed = False
    with Environment(arguments.exercises, **how) as environment:
        for answer in _answers(environment, sys.stdin.buffer, arguments.workers):
            missed |= "error" in answer or answer["status"] == "not_graded"
            print(json.dumps(answer), flush=True)
    return 1 if missed else 0


def _answers(environment: Environment, stream: IO[bytes], workers: int) -> Iterator[Answer]:
    """The answer to each line, in their order. A thread reads ahead, so that a line is answered before the next one
    comes; it waits where WAITING lines for each worker have no answer yet."""
    read: Queue[Future[Answer] | None] = Queue(WAITING * workers)
    threads = ThreadPoolExecutor(workers, "line")

    def read_all() -> None:
        """Read the lines, and have them answered."""
        for number, line in enumerate(_lines(stream), 1):
            if line.strip():
                read.put(threads.submit(_answer, environment, number, line))
        read.put(None)

    threading.Thread(target=read_all, daemon=True).start()
    try:
        while (future := read.get()) is not None:
            yield future.result()
    finally:
        threads.shutdown(wait=False, cancel_futures=True)


def _lines(stream: IO[bytes]) -> Iterator[bytes]:
    """The lines; of one that is too long only its beginning, which is as long as a line may be and a byte more."""
    while line := stream.readline(LONGEST_LINE + 1):
        rest = line
        while len(rest) > LONGEST_LINE and not rest.endswith(b"\n"):
            rest = stream.readline(LONGEST_LINE + 1)
        yield line


def _answer(environment: Environment, number: int, line: bytes) -> Answer:
    """The object to print for a line. Raises SandboxError where nothing can be judged."""
    name: dict[str, Any] = {}
    try:
        asked = _object(line)
        name = {"id": asked["id"]} if isinstance(asked.get("id"), str | int) else {}
        return name | environment.judge(_text(asked, "exercise"), _reply(asked)).as_json()
    except (BadLine, registry.UnknownExercise, registry.TwoExercises) as error:
        return name | {"line": number, "error": str(error)}


def _object(line: bytes) -> Answer:
    if len(line) > LONGEST_LINE:
        raise BadLine(f"the line has more than {LONGEST_LINE} bytes")
    try:
        asked = parse_json(line.decode())
    except ValueError as error:
        raise BadLine(f"the line is not JSON: {error}") from None
    if not isinstance(asked, dict):
        raise BadLine("the line is no JSON object")
    return asked


def _reply(asked: Answer) -> str:
    """The reply to judge: `answer`, or the assistant's last message."""
    if "messages" not in asked:
        return _text(asked, "answer")
    messages = asked["messages"] if isinstance(asked["messages"], list) else []
    for message in reversed(messages):
        if isinstance(message, dict) and message.get("role") == "assistant":
            return _text(message, "content")
    raise BadLine("`messages` has no message with the role assistant")


def _text(asked: Answer, key: str) -> str:
    if not isinstance(asked.get(key), str):
        raise BadLine(f"`{key}` must be text")
    return str(asked[key])
