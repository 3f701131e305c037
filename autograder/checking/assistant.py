"""One check for an assistant: `autograder check` in a warm process group that ends with the request."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
from anyio import to_thread

from autograder.checking.client import PROGRESS_S, CheckClient, CheckFailed
from autograder.exercises.parse import LONGEST

OnProgress = Callable[[float, str], Awaitable[object]]  # receives the seconds and the current stage


class Engine:
    """Runs checks one at a time; concurrent requests wait.

    folder: of the course, whose own misconceptions are used too; trust: run the code even without a box.
    """

    def __init__(self, folder: Path | None = None, trust: bool = False) -> None:
        self._folder, self._client = folder, CheckClient(trust=trust, own_group=True)
        self._turn = anyio.Lock()

    async def prepare(self) -> None:
        """Loads what a check needs before the first request."""
        await to_thread.run_sync(self._client.prepare)

    def close(self) -> None:
        """Ends the waiting processes."""
        self._client.close()

    async def check(self, exercise: str, code: str, on_progress: OnProgress) -> dict[str, Any]:
        """The verdict, as `autograder check --json` prints it. Raises CheckFailed.

        Cancelling it ends the process group and the box.
        """
        if len(code) > LONGEST:
            raise CheckFailed(f"the code has {len(code)} characters, more than the {LONGEST} allowed")
        found: dict[str, Any] | CheckFailed
        async with anyio.create_task_group() as group:
            group.start_soon(_report_progress, on_progress)
            try:
                async with self._turn:
                    found = await self._run(exercise, code)
            except CheckFailed as error:  # a group would wrap it
                found = error
            group.cancel_scope.cancel()
        if isinstance(found, CheckFailed):
            raise found
        return found

    async def _run(self, exercise: str, code: str) -> dict[str, Any]:
        with self._client.check(exercise, code, self._folder) as running:
            return await to_thread.run_sync(running.verdict, abandon_on_cancel=True)


async def _report_progress(on_progress: OnProgress) -> None:
    started = time.monotonic()
    while True:
        seconds = time.monotonic() - started
        await on_progress(seconds, f"checking in the box, {seconds:.0f} s")
        await anyio.sleep(PROGRESS_S)
