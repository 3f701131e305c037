"""The environment: tasks for a model, and processes with warm boxes that judge its replies."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import cached_property
from queue import SimpleQueue
from types import TracebackType
from typing import Any, Self

from autograder.api import HINTS, Exercise, Limits
from autograder.environment import prompt
from autograder.environment.outcome import YOURS, ReplyOutcome, not_graded, outcome_of
from autograder.environment.prompt import Message
from autograder.environment.reply import code_of
from autograder.exercises import registry
from autograder.exercises.parse import LONGEST
from autograder.grade.process import GradingFailed, GradingProcessDied, WorkerProcess
from autograder.sandbox import SandboxError

COMMAND = (sys.executable, "-P", "-c", "from autograder.environment.worker import main; main()")
REASONS = {"SandboxError": SandboxError}  # what a process raises as it was
LIMITS = Limits(wall_s=30.0, call_s=5.0)  # of one box; honest answers need a second, one that never ends costs call_s
PATIENCE = 8  # times the time of a box, after which a process is ended: two boxes on a busy machine, three times each,
# and what is done outside them
WARM_S = 300.0  # to load torch and start a box
PROCESS_BYTES = 2 << 30  # that a judging process may hold, besides its box
TRIES = 2  # the second in a new process: what filled the first one may have been earlier replies
Model = Callable[[list[Message]], Awaitable[str]]  # what replies to a conversation


class EnvironmentClosed(RuntimeError):
    """The environment was closed while, or before, something was judged."""


@dataclass(frozen=True)
class Rollout:
    """A conversation: the messages, and an outcome for each of the model's replies."""

    messages: list[Message]
    outcomes: list[ReplyOutcome]

    @property
    def score(self) -> float:
        """The score of the last reply."""
        return self.outcomes[-1].score


class Environment:
    """Exercises as tasks; replies are judged in a sandbox, `workers` at the same time.

    exercises: their ids, by default all that are installed. hints: how many steps of help the feedback gives, from 0
    (which checks passed; nothing is diagnosed, which is fastest) to 3 (the misconception, what was seen, the smallest
    counter-example). seed: of the inputs; the same reply gets the same outcome. limits: of each box. trust: judge
    without isolation where no sandbox works.

    Raises UnknownExercise, and ValueError for other arguments that cannot be.
    """

    def __init__(
        self, exercises: Sequence[str] = (), *, hints: int = 0, workers: int = 2, seed: int = 0,
        limits: Limits = LIMITS, trust: bool = False,
    ) -> None:  # fmt: skip
        if hints not in range(HINTS + 1):
            raise ValueError(f"hints={hints} must be a number from 0 to {HINTS}")
        if workers < 1:
            raise ValueError(f"workers={workers} must be 1 or more")
        found: list[Exercise] = [registry.find(name) for name in exercises] or list(registry.exercises())
        self._exercises = {exercise.id: exercise for exercise in found}
        self.hints, self.seed, self._limits = hints, seed, limits
        self._how = {"seed": seed, "hints": hints, "trust": trust, "limits": asdict(limits)}
        self._processes = [WorkerProcess(COMMAND, REASONS) for _ in range(workers)]
        self._idle: SimpleQueue[WorkerProcess] = SimpleQueue()
        for process in self._processes:
            self._idle.put(process)
        self._threads = ThreadPoolExecutor(workers, "judge")
        self._closed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """End the processes; what is being judged raises EnvironmentClosed. Safe to call twice."""
        self._closed = True
        self._threads.shutdown(wait=False, cancel_futures=True)
        for process in self._processes:
            process.close()

    @cached_property
    def tasks(self) -> list[dict[str, Any]]:
        """The dataset: `exercise`, `prompt` (chat messages) and `info` of each exercise, which are plain JSON.

        Raises StatementError if a file of an exercise cannot be read.
        """
        return [prompt.task_of(exercise) for exercise in self._exercises.values()]

    def judge(self, exercise: str, reply: str, *, seed: int | None = None) -> ReplyOutcome:
        """The outcome of a reply, which is code or has it in a fenced block. Waits for a process that is free.

        seed: other inputs than those of the environment's own seed. Raises UnknownExercise for another exercise than
        those of the environment, SandboxError where no sandbox works, and EnvironmentClosed.
        """
        asked = self._find(exercise)
        code = code_of(reply, asked.symbols)
        if len(code) > LONGEST:
            told = f"{YOURS} is too long: {len(code)} characters, more than {LONGEST}"
            return ReplyOutcome(exercise, "failed", feedback=told)
        how = self._how if seed is None else self._how | {"seed": seed}
        request = json.dumps({"exercise": exercise, "code": code, **how}).encode()
        process = self._idle.get()
        try:
            return self._ask(process, exercise, request)
        finally:
            self._idle.put(process)

    async def judge_async(self, exercise: str, reply: str, *, seed: int | None = None) -> ReplyOutcome:
        """As `judge`, without keeping the event loop waiting. Raises as `judge`."""
        if self._closed:
            raise EnvironmentClosed("this environment was closed: make a new one")
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, lambda: self.judge(exercise, reply, seed=seed))

    async def rollout(self, exercise: str, model: Model, turns: int = 1) -> Rollout:
        """A conversation of at most so many replies, which ends with one that passes. The feedback on each other one is
        the next message to the model. Raises as `judge`, what `model` raises, and ValueError for no turns."""
        if turns < 1:
            raise ValueError(f"turns={turns} must be 1 or more")
        messages: list[Message] = [*prompt.task_of(self._find(exercise))["prompt"]]
        outcomes: list[ReplyOutcome] = []
        for turn in range(turns):
            reply = await model([*messages])
            messages.append({"role": "assistant", "content": reply})
            outcomes.append(await self.judge_async(exercise, reply))
            if outcomes[-1].passed or turn == turns - 1:
                break
            messages.append({"role": "user", "content": outcomes[-1].feedback})
        return Rollout(messages, outcomes)

    def _find(self, exercise: str) -> Exercise:
        if exercise not in self._exercises:
            registry.find(exercise)  # says what is wrong with the name
            raise registry.UnknownExercise(f"{exercise} is not in this environment: name it when you make it")
        return self._exercises[exercise]

    def _ask(self, process: WorkerProcess, exercise: str, request: bytes) -> ReplyOutcome:
        warm_up = json.dumps({**self._how, "exercise": ""}).encode()
        died = ""
        for _ in range(TRIES):
            if self._closed:
                raise EnvironmentClosed("this environment was closed: make a new one")
            try:
                process.ask([warm_up], PROCESS_BYTES, WARM_S)  # takes time only in a new process
                verdict = process.ask([request], PROCESS_BYTES, PATIENCE * self._limits.wall_s)
                return outcome_of(json.loads(verdict), self.hints)
            except GradingProcessDied as error:
                died = str(error)
            except GradingFailed as error:
                return not_graded(exercise, str(error))
        if self._closed:
            raise EnvironmentClosed("this environment was closed while a reply was judged")
        return not_graded(exercise, f"{died}, {TRIES} times")
