"""The seeds with which a submission's questions are drawn. It imports no torch: `autograder grade` draws them itself,
so that a worker on another machine is sent those of one submission, and never the key from which all of them come."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from autograder.api import Exercise

PUBLIC_KEY = b"public"  # without a course key anyone can generate the same inputs
NOT_RUN = ("demo", "experiment", "predict", "check", "hunt", "hunt-answer", "ask", "recall")  # roles of cells


@dataclass(frozen=True)
class CellSource:
    """A cell to run, and the exercise that it answers, if any."""

    id: str
    text: str
    exercise: str | None = None
    setup: bool = False


def seed_for(key: bytes | None, submission: str, exercise: Exercise) -> int:
    """The seed of the inputs: unpredictable without the course key, and the same at every regrade."""
    drawn_for = f"{submission}\0{exercise.id}".encode("utf-8", "backslashreplace")  # a file's name need not be text
    digest = hmac.new(key or PUBLIC_KEY, drawn_for, hashlib.sha256).digest()
    return int.from_bytes(digest[:6], "big")


def seeds_for(key: bytes | None, student: str, nb: Any, exercises: Iterable[Exercise]) -> dict[str, int]:
    """Exercise → the seed of its inputs, for this code of this student (a notebook as a dict in nbformat 4).

    Of 48 bits each, made by a one-way function: those of one submission say nothing about the key or any other.
    """
    attempt = attempt_of(student, sources_of(nb))
    return {exercise.id: seed_for(key, attempt, exercise) for exercise in exercises}


def attempt_of(student: str, sources: Sequence[CellSource]) -> str:
    """An identifier of the submitted code: the same at every regrade, and another one for other code. So the seed that
    is shown in the feedback does not reveal the inputs of the student's next submission."""
    code = "\0".join(source.text for source in sources)
    return f"{student}\0{hashlib.sha256(code.encode('utf-8', 'replace')).hexdigest()}"


def sources_of(nb: Any) -> list[CellSource]:
    """The cells that run in the box: set-up, answers, and cells that the student added; never demos or checks."""
    sources = []
    for index, cell in enumerate(nb["cells"]):
        tfkit = cell.get("metadata", {}).get("tfkit")
        tfkit = tfkit if isinstance(tfkit, Mapping) else {}
        if cell.get("cell_type") != "code" or tfkit.get("missing") or tfkit.get("role") in NOT_RUN:
            continue
        text = cell.get("source", "")
        text = "".join(text) if isinstance(text, list) else str(text)
        exercise = tfkit.get("exercise") if tfkit.get("role") == "exercise" else None
        exercise = exercise if isinstance(exercise, str) else None
        sources.append(CellSource(str(cell.get("id", f"cell-{index}")), text, exercise, tfkit.get("role") == "setup"))
    return sources
