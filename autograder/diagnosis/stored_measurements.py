"""The measurements of `autograder corpus` in a file, so that a run that was stopped goes on where it was.

One JSON line for each exercise: what was asked for, a digest of the code that was measured, and the results. A line
whose request or code is another one is not used.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

from autograder.api import Exercise
from autograder.checks.corpus import Score
from autograder.checks.mutation import MutationScore
from autograder.diagnosis.measure import DiagnosisReport
from autograder.localize.measure import Lines

Measurement = tuple[Score, Lines | None, DiagnosisReport | None, MutationScore | None]
TYPES = (Score, Lines, DiagnosisReport, MutationScore)
PACKAGE = Path(__file__).parents[1]


class BadFile(ValueError):
    """The file holds something other than measurements; the message says which line."""


class StoredMeasurements:
    """The measurements in `path`, which need not exist, that were made with these options and today's code."""

    def __init__(self, path: Path, options: dict[str, Any]) -> None:
        """Raises BadFile if the file cannot be read. A last line that was not finished is ignored."""
        self.path = path
        self._options = options
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        whole, _, unfinished = text.rpartition("\n")
        self._found = {(row["exercise"], row["code"]): row for row in _rows(path, whole) if row["options"] == options}
        if unfinished:  # a line that was cut: the next one starts anew
            path.write_text(f"{whole}\n" if whole else "", encoding="utf-8")

    def get(self, exercise: Exercise) -> Measurement | None:
        """The exercise's measurement; None if it has not been made with this code."""
        row = self._found.get((exercise.id, digest(exercise)))
        return _from_json(row["results"]) if row else None

    def add(self, exercise: Exercise, measured: Measurement) -> None:
        """Append the exercise's measurement to the file."""
        row = {
            "exercise": exercise.id,
            "code": digest(exercise),
            "options": self._options,
            "results": [one and asdict(one) for one in measured],
        }
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")


def digest(exercise: Exercise) -> str:
    """A digest of the autograder's code and of all files of the exercise's unit."""
    whole = hashlib.sha256(_package_digest())
    for path in sorted(exercise.folder.rglob("*")) if exercise.folder else ():
        if path.is_file() and path.suffix in (".py", ".toml", ".zip"):
            whole.update(path.read_bytes())
    return whole.hexdigest()[:16]


@cache
def _package_digest() -> bytes:
    whole = hashlib.sha256()
    for path in sorted(PACKAGE.rglob("*.py")):
        whole.update(path.read_bytes())
    return whole.digest()


def _rows(path: Path, text: str) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(text.splitlines(), 1):
        try:
            row = json.loads(line)
            known = {"exercise", "code", "options", "results"} <= row.keys() and len(row["results"]) == len(TYPES)
        except (ValueError, AttributeError, TypeError):
            known = False
        if not known:
            raise BadFile(f"{path}, line {number}, is not a measurement of `autograder corpus`: name another file")
        yield row


def _from_json(results: Iterable[dict[str, Any] | None]) -> Any:
    return tuple(fields and kind(**fields) for kind, fields in zip(TYPES, results, strict=True))
