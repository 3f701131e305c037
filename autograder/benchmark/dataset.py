"""The dataset: every collected answer as a line of JSON, pairs of a right answer and one mistake in it, and a card.

    answers.jsonl     id, exercise, unit, symbols, kind, name, split, correct, sentence, base, code, sha256
    pairs.jsonl       id, exercise, right, wrong (ids of answers), sentence, diff
    exercises.jsonl   id, unit, title, symbols, points, code: signatures and docstrings with stubs
    hunts.jsonl       id, exercise, unit, code, faults, fault_lines, sentence, repair (id of an answer)
    blind.jsonl       answers by authors who saw the statement alone, if folders of them are given; see `blind`
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

from autograder.api import Exercise
from autograder.assistants.statement import statement_of
from autograder.benchmark.archive import DESCRIPTION, DatasetError, Row, refuse_existing, write
from autograder.exercises import registry
from autograder.exercises.answers import KINDS, EditedAnswer, answers
from autograder.hunts.make import hunts
from tfkit_course import NAME

BLIND_CONFIG = "- config_name: blind\n  data_files: blind.jsonl\n"  # of the card
SPLITS = {"right": "tuning", "wrong": "tuning", "edge": "tuning", "rewritten": "held_out"}


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


def hunt_rows(exercises: Iterable[Exercise], answers: Iterable[Row]) -> Iterator[Row]:
    """Bug hunts with one fault of a few lines: the code as a student gets it, where its fault is, and the right answer
    that it was made from."""
    sentences = {row["id"]: row["sentence"] for row in answers}
    for exercise in exercises:
        for hunt in hunts(exercise):
            (fault,) = hunt.faults
            yield {
                "id": hunt.id,
                "exercise": exercise.id,
                "unit": exercise.unit,
                "code": hunt.code,
                "faults": list(hunt.names),
                "fault_lines": [list(lines) for lines in hunt.fault_lines],
                "sentence": sentences[f"{exercise.id}/wrong/{fault.stem}"],
                "repair": f"{exercise.id}/right/{fault.base.stem}",
            }


def tables(blind: Iterable[Row] = ()) -> dict[str, list[Row]]:
    """File name -> rows, of all installed exercises; `blind`: rows of answers by other hands."""
    exercises = registry.exercises()
    rows = list(answer_rows(exercises))
    return {
        "answers.jsonl": rows,
        "pairs.jsonl": list(pair_rows(rows)),
        "exercises.jsonl": list(exercise_rows(exercises)),
        "hunts.jsonl": list(hunt_rows(exercises, rows)),
        **({"blind.jsonl": found} if (found := list(blind)) else {}),
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
            "hunts": len(rows["hunts.jsonl"]),
            "blind": len(rows.get("blind.jsonl", ())),
        },
    }


def dataset(blind: Iterable[Row] = ()) -> tuple[dict[str, str], Row]:
    """File name -> text of the tables, and their description."""
    rows = tables(blind)
    texts = {name: "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in own) for name, own in rows.items()}
    return texts, describe(texts, rows)


def export(path: Path, blind: Iterable[Row] = ()) -> Row:
    """Write the dataset into a folder that is new or empty, or into a new file that ends in .zip, and return its
    description.

    Raises DatasetError if there is something already, or if it cannot be written.
    """
    refuse_existing(path)
    texts, described = dataset(blind)
    card = files("autograder.benchmark").joinpath("card.md").read_text(encoding="utf-8")
    if not described["counts"]["blind"]:
        card = card.replace(BLIND_CONFIG, "")
    for key, value in {**described["counts"], "version": described["version"]}.items():
        card = card.replace(f"<{key}>", str(value))
    texts |= {DESCRIPTION: json.dumps(described, indent=1) + "\n", "README.md": card}
    write(path, texts)
    return described


__all__ = ["DatasetError", "Row", "dataset", "export", "tables"]
