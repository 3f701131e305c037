"""Measures verdicts on answers whose authors saw the statement alone: neither the checks nor the collected mistakes.

A folder holds them as `ID/right/NAME.py` and `ID/wrong/NAME.py`, whose first line, a comment, says what is wrong, and
`ID/setup.py`, what the lesson's set-up imports. A figure counts only on answers that were frozen before it was taken.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from autograder.api import Exercise
from autograder.console.base import BadInput
from autograder.corpus.results_file import hash_of_exercise
from autograder.exercises import registry
from autograder.exercises.answers import answers
from autograder.grade.run import CellSource, Grader

Row = dict[str, Any]


@dataclass(frozen=True)
class BlindAnswer:
    """One answer by another hand."""

    exercise: Exercise
    path: Path

    @property
    def right(self) -> bool:
        """Whether its author meant it to be right."""
        return self.path.parent.name == "right"

    @property
    def key(self) -> str:
        """Its name in the results: `ID/right/NAME`."""
        return f"{self.exercise.id}/{self.path.parent.name}/{self.path.stem}"

    def read_text(self) -> str:
        """The code, with the comment that says what is wrong."""
        return self.path.read_text(encoding="utf-8")

    def without_label(self) -> str:
        """The code as it is graded: the comment's line is empty, so that the lines keep their numbers."""
        first, _, rest = self.read_text().partition("\n")
        return f"\n{rest}" if first.startswith("#") else self.read_text()

    def label(self) -> str:
        """What its author says of it."""
        return self.read_text().partition("\n")[0].lstrip("# ")


def find(folder: Path, ids: Sequence[str] = ()) -> list[BlindAnswer]:
    """The answers in a folder, of these exercises or of all. Raises BadInput where there are none."""
    if not folder.is_dir():
        raise BadInput(f"there is no folder {folder}")
    found = []
    for place in sorted(one for one in folder.iterdir() if one.is_dir()):
        exercise = registry.find(place.name)
        if not ids or exercise.id in ids:
            paths = [path for kind in ("right", "wrong") for path in sorted(place.glob(f"{kind}/*.py"))]
            found += [BlindAnswer(exercise, path) for path in paths]
    if not found:
        raise BadInput(f"{folder} holds no ID/right/NAME.py or ID/wrong/NAME.py")
    return found


def grade(answer: BlindAnswer, backend: Any) -> Row:
    """The verdict on one answer, as `autograder check --json` gives it, with `answer`, `label` and `right`."""
    submission = _sha256(answer.without_label())
    verdict = Grader([*cells_of(answer)], backend, submission=submission).grade(answer.exercise)
    return {"answer": answer.key, "label": answer.label(), "right": answer.right, **verdict.as_json()}


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def cells_of(answer: BlindAnswer) -> Iterator[CellSource]:
    """The set-up, right answers to the earlier exercises whose names the answer uses, and the answer."""
    text = answer.without_label()
    setup = answer.path.parents[1] / "setup.py"
    if setup.exists():
        yield CellSource("setup", setup.read_text(encoding="utf-8"), None, setup=True)
    for other in registry.earlier_in_unit(answer.exercise):
        if any(symbol in text and not re.search(rf"(def|class) {symbol}\b", text) for symbol in other.symbols):
            yield CellSource(other.id, next(iter(answers(other, "right"))).read_text(), other.id)
    yield CellSource("answer", text, answer.exercise.id)


def measure(found: Sequence[BlindAnswer], backend: Any, results: Path | None = None) -> Iterator[Row]:
    """The row of each answer, as soon as it is graded, with `code`: a hash of the grader and of the cells that it runs.

    Rows in `results` with the same hash are not graded again.
    """
    known, grader_of = _known(results), cache(hash_of_exercise)
    for answer in found:
        row, code = known.get(answer.key), _sha256(repr((grader_of(answer.exercise), [*cells_of(answer)])))
        if row is None or row.get("code") != code:
            row = grade(answer, backend) | {"code": code}
            if results is not None:
                with results.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(row) + "\n")
        yield row


def _known(results: Path | None) -> dict[str, Row]:
    if results is None or not results.exists():
        return {}
    try:
        rows = [json.loads(line) for line in results.read_text(encoding="utf-8").splitlines() if line.strip()]
        return {row["answer"]: row for row in rows}
    except (ValueError, KeyError, TypeError):
        raise BadInput(f"{results} does not hold results of blind answers: name another file") from None


def is_misjudged(row: Row) -> bool:
    """Whether a right answer was refused or a wrong one let through, or either could not be graded."""
    return bool(row["status"] != ("passed" if row["right"] else "failed"))


def line_of(row: Row) -> str:
    """One answer and what is said of it."""
    named = ", ".join(row.get("misconceptions") or ()) or "no name"
    failed = (check["message"] for check in row["checks"] if check["status"] == "failed")
    told = "" if row["status"] == "passed" else f": {row.get('hint') or row.get('reason') or next(failed, '')}"
    return f"{row['answer']}  {row['score']:g} of {row['max_score']:g}  ({named}){told}".replace("\n", " ")


def summary(rows: Sequence[Row]) -> str:
    """What all verdicts say together."""
    right, wrong = ([row for row in rows if row["right"] is kind] for kind in (True, False))
    caught = [row for row in wrong if row["status"] == "failed"]
    count = lambda rows, holds: sum(map(bool, map(holds, rows)))
    kept: Mapping[str, float] = {row["answer"]: row["score"] / row["max_score"] for row in caught if row["max_score"]}
    return (
        f"right passed {count(right, lambda row: row['status'] == 'passed')}/{len(right)}, "
        f"wrong caught {len(caught)}/{len(wrong)}, "
        f"named {count(caught, lambda row: row.get('misconceptions'))}/{len(caught)}, "
        f"with a line {count(caught, lambda row: row.get('line'))}/{len(caught)}, "
        f"mean share kept {sum(kept.values()) / max(len(kept), 1):.0%}"
    )
