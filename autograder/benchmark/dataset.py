"""The dataset: every collected answer as a line of JSON, pairs of a right answer and one mistake in it, and a card.

    answers.jsonl     id, exercise, unit, symbols, kind, name, split, correct, sentence, base, code, sha256
    pairs.jsonl       id, exercise, right, wrong (ids of answers), sentence, diff
    exercises.jsonl   id, unit, title, symbols, points, code: signatures and docstrings with stubs
    dataset.json      version, counts, SHA-256 of each file
    README.md         the card

`split`: `tuning` are the answers with which the checks were built; `held_out` are the same mistakes, rewritten later.
"""

from __future__ import annotations

import ast
import difflib
import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from importlib import metadata
from importlib.resources import files
from pathlib import Path
from typing import Any

from autograder.api import Exercise
from autograder.assistants.statement import statement_of
from autograder.exercises import registry
from autograder.exercises.answers import KINDS, EditedAnswer, answers
from tfkit_course import NAME

SPLITS = {"right": "tuning", "wrong": "tuning", "edge": "tuning", "rewritten": "held_out"}
Row = dict[str, Any]


class DatasetError(ValueError):
    """The dataset cannot be written; the message says why, and what to do."""


def answer_rows(exercises: Iterable[Exercise]) -> Iterator[Row]:
    """Every collected answer of these exercises, in their order, then by kind and name."""
    for exercise in exercises:
        sentences: dict[str, str | None] = {}  # a rewritten answer has the sentence of its mistake
        for kind in KINDS:
            for path in answers(exercise, kind):
                code = path.read_text(encoding="utf-8")
                sentences.setdefault(path.stem, ast.get_docstring(ast.parse(code)))
                base = path.base.stem if isinstance(path, EditedAnswer) else None
                yield {
                    "id": f"{exercise.id}/{kind}/{path.stem}",
                    "exercise": exercise.id,
                    "unit": exercise.unit,
                    "symbols": list(exercise.symbols),
                    "kind": kind,
                    "name": path.stem,
                    "split": SPLITS[kind],
                    "correct": kind == "right",
                    "sentence": sentences[path.stem] if kind != "right" else None,
                    "base": f"{exercise.id}/right/{base}" if base else None,
                    "code": code,
                    "sha256": hashlib.sha256(code.encode()).hexdigest(),
                }


def pair_rows(rows: Iterable[Row]) -> Iterator[Row]:
    """Pairs of a right answer and the same answer with one mistake, and the lines that differ."""
    known = {row["id"]: row for row in rows}
    for row in known.values():
        if row["base"] is None:
            continue
        right = known[row["base"]]["code"].splitlines()
        wrong = row["code"].splitlines()
        diff = "\n".join(difflib.unified_diff(right, wrong, "right", "wrong", lineterm=""))
        yield {
            "id": row["id"],
            "exercise": row["exercise"],
            "right": row["base"],
            "wrong": row["id"],
            "sentence": row["sentence"],
            "diff": diff,
        }


def exercise_rows(exercises: Iterable[Exercise]) -> Iterator[Row]:
    """The exercises: signatures and docstrings, with stubs."""
    for exercise in exercises:
        yield {
            "id": exercise.id,
            "unit": exercise.unit,
            "title": exercise.title,
            "symbols": list(exercise.symbols),
            "points": exercise.points,
            "code": statement_of(exercise).code,
        }


def tables() -> dict[str, list[Row]]:
    """File name -> rows, of all installed exercises."""
    exercises = registry.exercises()
    rows = list(answer_rows(exercises))
    return {
        "answers.jsonl": rows,
        "pairs.jsonl": list(pair_rows(rows)),
        "exercises.jsonl": list(exercise_rows(exercises)),
    }


def describe(texts: Mapping[str, str], rows: Mapping[str, list[Row]]) -> Row:
    """The contents of dataset.json; the version includes a hash of the content, so that it is unique."""
    sums = {name: hashlib.sha256(text.encode()).hexdigest() for name, text in texts.items()}
    whole = hashlib.sha256("".join(f"{name} {value}\n" for name, value in sorted(sums.items())).encode()).hexdigest()
    counts = Counter(row["kind"] for row in rows["answers.jsonl"])
    return {
        "name": "wrong-transformers",
        "version": f"{metadata.version(NAME)}+{whole[:12]}",
        "sha256": sums,
        "counts": {
            "exercises": len(rows["exercises.jsonl"]),
            **{kind: counts[kind] for kind in KINDS},
            "named": sum(bool(row["sentence"]) for row in rows["answers.jsonl"]),
            "pairs": len(rows["pairs.jsonl"]),
        },
    }


def dataset() -> tuple[dict[str, str], Row]:
    """File name -> text of the tables, and their description."""
    rows = tables()
    texts = {name: "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in own) for name, own in rows.items()}
    return texts, describe(texts, rows)


def export(folder: Path) -> Row:
    """Write the dataset into a folder that is new or empty, and return its description.

    Raises DatasetError if the folder is not empty or cannot be written.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise DatasetError(f"{folder} exists and is not empty: name a new folder")
    texts, described = dataset()
    card = files("autograder.benchmark").joinpath("card.md").read_text(encoding="utf-8")
    for key, value in {**described["counts"], "version": described["version"]}.items():
        card = card.replace(f"<{key}>", str(value))
    texts |= {"dataset.json": json.dumps(described, indent=1) + "\n", "README.md": card}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            (folder / name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise DatasetError(f"{folder} cannot be written: {error.strerror}") from error
    return described
