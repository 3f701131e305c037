"""Answers whose authors saw the statement alone, as rows of the dataset, and as code that a grader can run.

A folder of them is as `corpus.blind` reads it. `labels.csv` in it, if it is there, has what readers found of what this
project's engine had said of each wrong one.
"""

from __future__ import annotations

import ast
import csv
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from autograder.benchmark.archive import Row
from autograder.benchmark.measure import BLIND_RIGHT, BLIND_WRONG
from autograder.corpus.blind import cells_of, find

LABELS = ("said", "names", "named", "line", "why")
NOTHING = {"empty": "nothing"}  # readers of the first set wrote another word for it
KINDS = {True: BLIND_RIGHT, False: BLIND_WRONG}


def blind_rows(folders: Sequence[Path], ids: Sequence[str] = ()) -> Iterator[Row]:
    """The answers in these folders, of these exercises or of all. Raises BadInput for a folder without answers."""
    for folder in folders:
        labels = _labels(folder / "labels.csv")
        for answer in find(folder, ids):
            code = answer.without_label()
            given = [cell.text for cell in cells_of(answer)][:-1]
            yield {
                "id": f"{folder.name}/{answer.key}",
                "set": folder.name,
                "exercise": answer.exercise.id,
                "unit": answer.exercise.unit,
                "kind": KINDS[answer.right],
                "name": answer.path.stem,
                "split": "blind",
                "correct": answer.right,
                "label": answer.label(),
                "given": "\n\n".join(given),
                "code": code,
                "sha256": hashlib.sha256(code.encode()).hexdigest(),
                **{key: labels.get(answer.key, {}).get(key) or None for key in LABELS},
            }


def to_judge(row: Row) -> Row:
    """The row with what runs before the answer as a part of its code, as a grader of one source needs it: without the
    lab's widgets, which no box has, and whose import would end the source."""
    given = [ast.unparse(one) for one in ast.parse(row["given"]).body if not _is_of_the_lab(one)]
    return {**row, "code": "\n".join([*given, "", row["code"]])}


def _is_of_the_lab(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.ImportFrom) and (statement.module or "").partition(".")[0] == "tfkit_lab"


def _labels(file: Path) -> Mapping[str, Mapping[str, str]]:
    if not file.exists():
        return {}
    with file.open(encoding="utf-8", newline="") as lines:
        rows = {row["answer"]: row for row in csv.DictReader(lines)}
    return {answer: {key: NOTHING.get(value, value) for key, value in row.items()} for answer, row in rows.items()}
