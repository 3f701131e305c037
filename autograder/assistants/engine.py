"""One check for an assistant: `autograder check` in a warm process group that ends with the request."""

from __future__ import annotations

import json
import subprocess
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
from anyio import to_thread

from autograder.misconceptions import misconception_options
from autograder.parse import LONGEST
from autograder.warm import Process, WarmProcesses, request

SECONDS = 300.0  # a limit for when the autograder hangs; it has limits of its own
PROGRESS_S = 1.0  # seconds between two progress reports
OnProgress = Callable[[float, str], Awaitable[object]]  # receives the seconds and the current stage


class EngineError(RuntimeError):
    """The check could not be made; the message says why."""


class Engine:
    """Runs checks one at a time; concurrent requests wait.

    folder: of the course, whose own misconceptions are used too; trust: run the code even without a box.
    """

    def __init__(self, folder: Path | None = None, trust: bool = False) -> None:
        self._options = [*misconception_options(folder), *["--trust"] * trust]
        self._warm = WarmProcesses(*["--trust"] * trust, own_group=True)
        self._turn = anyio.Lock()

    async def prepare(self) -> None:
        """Loads what a check needs before the first request."""
        await to_thread.run_sync(self._warm.prepare)

    def close(self) -> None:
        """Ends the waiting processes."""
        self._warm.close()

    async def check(self, exercise: str, code: str, on_progress: OnProgress) -> dict[str, Any]:
        """The verdict, as `autograder check --json` prints it. Raises EngineError.

        Cancelling it ends the process group and the box.
        """
        if len(code) > LONGEST:
            raise EngineError(f"the code has {len(code)} characters, more than the {LONGEST} allowed")
        found: dict[str, Any] | EngineError
        async with anyio.create_task_group() as group:
            group.start_soon(_report_progress, on_progress)
            try:
                async with self._turn:
                    found = await self._run(exercise, code)
            except EngineError as error:  # a group would wrap it
                found = error
            group.cancel_scope.cancel()
        if isinstance(found, EngineError):
            raise found
        return found

    async def _run(self, exercise: str, code: str) -> dict[str, Any]:
        with tempfile.TemporaryDirectory(prefix="tfkit-check-") as folder:
            answer = Path(folder) / "answer.py"
            # JSON can hold a lone surrogate, which is not UTF-8; the parser will report its replacement
            answer.write_text(code, encoding="utf-8", errors="replace")
            with self._warm.process() as process:
                request_line = request(["check", exercise, str(answer), "--json", *self._options])
                out, err = await to_thread.run_sync(_communicate, process, request_line, abandon_on_cancel=True)
        for line in reversed(out.splitlines()):
            try:
                found = json.loads(line)
            except ValueError:
                continue  # a warning printed by a library
            if isinstance(found, dict) and found.get("exercise") == exercise:
                return {**found, "file": ""}
        errors = err.strip().splitlines()
        raise EngineError(errors[-1][:500] if errors else "the autograder gave no verdict and no reason")


def _communicate(process: Process, sent: str) -> tuple[str, str]:
    try:
        return process.communicate(sent, SECONDS)
    except subprocess.TimeoutExpired:
        raise EngineError(f"no verdict after {SECONDS:.0f} s: the check was stopped") from None
    except ValueError as error:  # its pipes were closed because the request was cancelled
        raise EngineError("the check was stopped") from error


async def _report_progress(on_progress: OnProgress) -> None:
    started = time.monotonic()
    while True:
        seconds = time.monotonic() - started
        await on_progress(seconds, f"checking in the box, {seconds:.0f} s")
        await anyio.sleep(PROGRESS_S)
