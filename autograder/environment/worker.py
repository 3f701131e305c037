"""The process that judges replies for `pool.Environment`: a box for each, and no explanation where none is wanted."""

from __future__ import annotations

import json
from typing import Any

import torch

from autograder import sandbox
from autograder.api import Exercise, Limits
from autograder.assistants.statement import setup_of
from autograder.environment.pool import REASONS
from autograder.exercises import registry
from autograder.grade.process import serve
from autograder.grade.run import CellSource, Grader, seed_for


def main() -> None:
    """Judge what comes through the descriptor of the first argument until it is closed."""
    torch.set_num_threads(1)
    serve(answer, 1, REASONS)


def answer(request: bytes) -> bytes:
    """The verdict's JSON object; an empty one for a request without an exercise, which only loads and starts a box.

    Raises SandboxError where no box can be started.
    """
    asked = json.loads(request)
    backend = sandbox.choose(asked["trust"])
    if not asked["exercise"]:
        return b"{}"
    exercise = registry.find(asked["exercise"])
    return json.dumps(judge(exercise, asked["code"], backend, asked)).encode()


def judge(exercise: Exercise, code: str, backend: Any, how: dict[str, Any]) -> dict[str, Any]:
    """The verdict on code for this seed, with these limits; explained where hints are wanted."""
    setup = CellSource("setup", setup_of(exercise), setup=True)
    grader = Grader(
        [setup, CellSource("answer", code, exercise.id)],
        backend,
        seed=seed_for(None, str(how["seed"]), exercise),
        device="cpu",
        limits=Limits(**how["limits"]),
        credit="checks",  # so that the reward does not depend on whether a mistake is known
        explain=how["hints"] > 0,
    )
    return grader.grade(exercise).as_json()
