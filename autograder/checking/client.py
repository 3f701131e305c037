"""The one who asks a waiting process for a check: for the notebook's `check()`, an assistant and the lab's button.

    client = CheckClient(trust=True)
    with client.check("masks.causal", code) as running:
        verdict = running.verdict()

The process ends with the block. To cancel a check, whose `verdict` a thread may be waiting for, is to leave the block.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from autograder.checking.fork import ForkedProcess, check_processes
from autograder.checking.processes import Process, explain_failure, request
from autograder.console.ask import last_object
from autograder.diagnosis.misconceptions import misconception_options

SECONDS = 300.0  # a limit for when the autograder hangs; it has limits of its own
PROGRESS_S = 1.0  # seconds between two progress reports
OnProgress = Callable[[float], object]  # called regularly with the seconds so far


class CheckFailed(RuntimeError):
    """The check could not be made; the message says why."""


class RunningCheck:
    """A check whose process is there."""

    def __init__(self, process: Process | ForkedProcess, exercise: str, arguments: list[str]) -> None:
        self._process, self._exercise, self._arguments = process, exercise, arguments

    def verdict(self, on_progress: OnProgress = lambda _: None) -> dict[str, Any]:
        """Waits for the verdict, the object that `autograder check --json` prints. Raises CheckFailed without one."""
        out, err = self._outputs(on_progress)
        found = last_object(out, lambda found: found.get("exercise") == self._exercise)
        if found is None:
            raise CheckFailed(explain_failure(err))
        return {**found, "file": ""}  # the temporary file's name would help nobody

    def _outputs(self, on_progress: OnProgress) -> tuple[str, str]:
        """The standard output and error of the process, within the time limit."""
        started = time.monotonic()
        sent: str | None = request(self._arguments)
        while (seconds := time.monotonic() - started) < SECONDS:
            try:
                return self._process.communicate(sent, min(PROGRESS_S, SECONDS - seconds))
            except subprocess.TimeoutExpired:
                sent = None  # the process has it
                on_progress(time.monotonic() - started)
        raise CheckFailed(f"no verdict on {self._exercise} after {SECONDS:g} s: the check was stopped")


class CheckClient:
    """Asks for checks, each in a process of its own.

    trust: run the code even where no sandbox works; own_group: end also what the process has started.
    """

    def __init__(self, *, trust: bool = False, own_group: bool = False) -> None:
        self._options = ["--trust"] * trust
        self.processes = check_processes(*self._options, own_group=own_group)

    def prepare(self) -> None:
        """Starts loading what a check needs, before the first is asked for."""
        self.processes.prepare()

    def close(self) -> None:
        """Ends the processes that wait."""
        self.processes.close()

    @contextmanager
    def check(
        self, exercise: str, answer: str | list[dict[str, Any]], folder: Path | None = None
    ) -> Iterator[RunningCheck]:
        """A check of the answer, source or the cells of a notebook.

        folder: where the notebook lies, which may contain the course's own misconceptions.
        """
        with tempfile.TemporaryDirectory(prefix="tfkit-check-") as temporary, self.processes.process() as process:
            file = _write(answer, Path(temporary))
            options = [*self._options, *misconception_options(folder)]
            yield RunningCheck(process, exercise, [exercise, str(file), "--json", *options])


def _write(answer: str | list[dict[str, Any]], folder: Path) -> Path:
    if isinstance(answer, str):
        file = folder / "answer.py"
        # JSON can hold a lone surrogate, which is not UTF-8; the parser will report its replacement
        file.write_text(answer, encoding="utf-8", errors="replace")
    else:
        file = folder / "notebook.ipynb"
        notebook = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": answer}
        file.write_text(json.dumps(notebook), encoding="utf-8")
    return file
