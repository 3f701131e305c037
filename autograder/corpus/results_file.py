"""The results of `autograder corpus`, or of another command, in a file, so that an interrupted run can go on.

One JSON line for each exercise: the options, a hash of the code and answers, and the results. A line with other options
or another hash is not used.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from autograder.api import Exercise
from autograder.checks.mutation import MutationScore
from autograder.cluster.bundle import hash_of_code
from autograder.corpus.diagnosis import DiagnosisReport
from autograder.corpus.judge import Score
from autograder.corpus.lines import Lines
from autograder.exercises.answers import KINDS

RESULT_TYPES = (Score, Lines, DiagnosisReport, MutationScore)
LINE_START = b'{"exercise": '


class ResultsFileError(ValueError):
    """The file holds something other than results of the command; the message says in which line."""


class CorpusResultsFile:
    """The results in `path`, which need not exist, that were measured with these options.

    `types` are those of the results of an exercise, since `--seeds` measures something else than a report does;
    `command`: whose results they are. `hash_of`: of what is measured, where that is no exercise; it has an `id`.
    """

    def __init__(
        self,
        path: Path,
        options: dict[str, Any],
        types: Sequence[Any] = RESULT_TYPES,
        command: str = "corpus",
        hash_of: Callable[[Any], str] | None = None,
    ) -> None:
        """Raises ResultsFileError if the file is of another kind. A last line that was cut off is removed."""
        self._path, self._options, self._types = path, options, types
        self._hash_of = hash_of or hash_of_exercise
        written = path.read_bytes() if path.exists() else b""
        whole, newline, cut = written.rpartition(b"\n")
        rows = list(_rows(path, (whole + newline).splitlines(), command))
        if cut and not (cut.startswith(LINE_START) or LINE_START.startswith(cut)):
            raise ResultsFileError(_invalid_line(path, len(rows) + 1, command))
        if cut:
            os.truncate(path, len(written) - len(cut))
        self.all_options = list({repr(row["options"]): row["options"] for row in rows}.values())  # each once, in order
        self._rows = {(row["exercise"], row["code"]): row for row in rows if row["options"] == options}

    def find(self, exercise: Any) -> Any:
        """The exercise's results; None if it has not been measured with its present code and answers."""
        row = self._rows.get((exercise.id, self._hash_of(exercise)))
        return _from_json(row["results"], self._types) if row else None

    def append(self, exercise: Any, results: Sequence[Any]) -> None:
        """Write the exercise's results at the end of the file."""
        row = {
            "exercise": exercise.id,
            "code": self._hash_of(exercise),
            "options": self._options,
            "results": [one and asdict(one) for one in results],
        }
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")


def hash_of_exercise(exercise: Exercise) -> str:
    """A hash of all that the results depend on: what a grade depends on, all answers and equivalent mutants."""
    listed = exercise.folder and exercise.folder / "equivalent.toml"
    equivalent = listed.read_bytes() if listed and listed.is_file() else b""
    return hashlib.sha256(hash_of_code([exercise], KINDS).encode() + equivalent).hexdigest()


def _rows(path: Path, lines: list[bytes], command: str) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(lines, 1):
        try:
            row = json.loads(line)
            valid = {"exercise", "code", "options"} <= row.keys() and isinstance(row["results"], list)
        except (ValueError, AttributeError, TypeError, KeyError):
            valid = False
        if not valid:
            raise ResultsFileError(_invalid_line(path, number, command))
        yield row


def _invalid_line(path: Path, line: int, command: str) -> str:
    return f"{path}, line {line}, is not a result of `autograder {command}`: name another file"


def _from_json(results: list[dict[str, Any] | None], types: Sequence[Any]) -> Any:
    return tuple(fields and kind(**fields) for kind, fields in zip(types, results, strict=True))
