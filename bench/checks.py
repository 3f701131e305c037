"""How long a student waits for a verdict: `python -m bench.checks [--write docs/benchmarks-checks.md]`.

A real Jupyter server with the extension shows a course, as `make lab` does. Right and wrong answers to exercises of all
units are checked one right after the other over HTTP, as the Check button does it, on a lab that has been open for a
while. Then the server starts again, and the first check is asked for as soon as the course is shown.
"""

from __future__ import annotations

import json
import os
import platform
import random
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from autograder.exercises import registry
from autograder.exercises.answers import answers
from course.build import build
from tfkit_course.command_line import make_parser

TOKEN = "bench"
START_S = 60.0
CHECK_S = 300.0
OPEN_S = 15.0  # between opening the lab and the first check of a warm one
GOALS = {"median": 1.0, "p95": 2.0, "first": 3.0}  # seconds


@dataclass(frozen=True)
class TimedCheck:
    """One check: of which exercise and answer, its verdict, and how long it took."""

    exercise: str
    answer: str
    status: str
    seconds: float


@dataclass(frozen=True)
class JupyterServer:
    """A Jupyter server that shows a course."""

    port: int

    def request_json(self, route: str, body: dict[str, Any] | None = None) -> Any:
        """The answer of a route of the extension."""
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}/{route}",
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"token {TOKEN}", "Content-Type": "application/json"},
        )
        try:
            with urllib.request.urlopen(request, timeout=CHECK_S) as reply:
                return json.loads(reply.read())
        except urllib.error.HTTPError as error:
            raise RuntimeError(f"{route}: {error.code} {error.read().decode()[:500]}") from None

    def check(self, exercise: str, answer: str, code: str) -> TimedCheck:
        """Checks one answer, as the button does."""
        cells = [{"source": code, "role": "exercise", "exercise": exercise}]
        started = time.monotonic()
        found = self.request_json(
            "tfkit/check", {"exercise": exercise, "cells": cells, "path": "02-masks/02-masks.ipynb"}
        )
        return TimedCheck(exercise, answer, found["status"], time.monotonic() - started)


@contextmanager
def start_server(root: Path) -> Iterator[JupyterServer]:
    """A server in the folder, until the end of the block. Raises TimeoutError if it does not start."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = {"ServerApp.root_dir": root, "ServerApp.port": port, "ServerApp.open_browser": False,
               "ServerApp.allow_root": True, "IdentityProvider.token": TOKEN}  # fmt: skip
    command = [sys.executable, "-m", "jupyterlab", *(f"--{key}={value}" for key, value in options.items())]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        server, end = JupyterServer(port), time.monotonic() + START_S
        try:
            while True:
                try:
                    server.request_json("api/status")
                    break
                except (OSError, RuntimeError):
                    if time.monotonic() > end:
                        raise TimeoutError(f"no Jupyter server after {START_S:g} s") from None
                    time.sleep(0.2)
            yield server
        finally:
            process.terminate()


def draw_answers(count: int, seed: int) -> list[tuple[str, str, str]]:
    """(exercise, answer, code) of so many answers, right and wrong in turn, over all units."""
    draw = random.Random(seed)
    exercises = list(registry.exercises())
    draw.shuffle(exercises)
    chosen = []
    for index in range(count):
        exercise = exercises[index % len(exercises)]
        kind = ("right", "wrong")[index % 2]
        answer = draw.choice(answers(exercise, kind))
        chosen.append((exercise.id, f"{kind}/{answer.stem}", answer.read_text(encoding="utf-8")))
    return chosen


def measure(count: int, firsts: int, seed: int) -> tuple[list[TimedCheck], list[float]]:
    """The checks of a warm lab, one right after the other; and the first checks of labs that were just opened."""
    with tempfile.TemporaryDirectory(prefix="tfkit-bench-") as folder:
        root = Path(folder)
        build(root, ["02-masks"])
        warm, first = [], []
        with start_server(root / "source") as server:
            server.request_json("tfkit/course")
            time.sleep(OPEN_S)
            for one in draw_answers(count, seed):
                warm.append(server.check(*one))
                print(f"{warm[-1].seconds:6.2f} s  {warm[-1].status:8} {one[0]} {one[1]}", flush=True)
        for one in draw_answers(firsts, seed + 1):
            with start_server(root / "source") as server:
                server.request_json("tfkit/course")
                first.append(server.check(*one).seconds)
                print(f"{first[-1]:6.2f} s  the first check of a lab: {one[0]} {one[1]}", flush=True)
    return warm, first


def markdown_page(warm: Sequence[TimedCheck], first: Sequence[float], load: tuple[float, float]) -> str:
    """The Markdown page."""
    seconds = [one.seconds for one in warm]
    of_kind = {kind: [one.seconds for one in warm if one.answer.startswith(kind)] for kind in ("right", "wrong")}
    rows = [
        ("median", statistics.median(seconds), GOALS["median"]),
        ("95 of 100 take at most", statistics.quantiles(seconds, n=20, method="inclusive")[-1], GOALS["p95"]),
        ("the longest", max(seconds), None),
        *((f"median, {kind} answers", statistics.median(each), None) for kind, each in of_kind.items()),
        (f"the first check of a lab, median of {len(first)}", statistics.median(first), GOALS["first"]),
    ]  # fmt: skip
    slow = sorted(warm, key=lambda one: -one.seconds)[:5]
    return "\n".join(
        [
            "# How long a student waits for a verdict",
            "",
            f"Written by `python -m bench.checks` on {date.today().isoformat()}; {platform.machine()}, "
            f"{len(os.sched_getaffinity(0))} cores. The load of the machine was {load[0]:.1f} when it began, "
            f"{load[1]:.1f} when it ended.",
            "",
            f"{len(warm)} answers, right and wrong in turn, of {len({one.exercise for one in warm})} exercises of all "
            "units are sent to the route of the Check button, each as soon as the verdict before it has come.",
            "",
            "| | seconds | goal |",
            "|---|---:|---:|",
            *(f"| {what} | {value:.2f} | {'' if goal is None else f'{goal:.1f}'} |" for what, value, goal in rows),
            "",
            "The slowest: " + ", ".join(f"`{one.exercise}` ({one.answer}) {one.seconds:.1f} s" for one in slow) + ".",
            "",
        ]
    )


def main() -> None:
    """Measures, prints the page, and writes it where asked."""
    parser = make_parser(
        "bench.checks",
        """
        Measure how long a student waits for a verdict. A real Jupyter server with the extension shows a course, as
        `make lab` does, and right and wrong answers are checked over HTTP, as the Check button does it. Then the server
        starts again several times, and its first check is measured. Prints the page docs/benchmarks-checks.md.
        """,
        exits={0: "done"},
        examples=("python -m bench.checks --write docs/benchmarks-checks.md",),
    )
    parser.add_argument("--count", type=int, default=64, metavar="N",
                        help="checks in a lab that has been open for a while (default: %(default)s)")  # fmt: skip
    parser.add_argument("--firsts", type=int, default=3, metavar="N",
                        help="starts of which the first check is measured (default: %(default)s)")  # fmt: skip
    parser.add_argument("--seed", type=int, default=0, metavar="N",
                        help="seed of the choice of answers (default: %(default)s)")  # fmt: skip
    parser.add_argument("--write", type=Path, metavar="FILE", help="also write the page to this file")
    arguments = parser.parse_args()
    before = os.getloadavg()[0]
    warm, first = measure(arguments.count, arguments.firsts, arguments.seed)
    text = markdown_page(warm, first, (before, os.getloadavg()[0]))
    print(text)
    if arguments.write:
        arguments.write.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
