"""Sealed predictions: a file beside the notebook, and a folder that collects a class's predictions. Imports no torch.

`.tfkit/predictions.json` stores by name the questions, the predictions with their time, and later the results. If
`TFKIT_PREDICTIONS` names a folder, the file is copied into it at each change under an unguessable name: the folder may
be like nbgrader's inbound folder, which students can write to but not list.
"""

from __future__ import annotations

import json
import math
import os
import secrets
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any

from autograder.exercises.variants import student_name
from tfkit_course.small_file import is_of, read_small_json
from tfkit_lab.folders import course_folders

FILE = Path(".tfkit") / "predictions.json"
FOLDER = "TFKIT_PREDICTIONS"
KINDS = ("number", "numbers", "shape", "choice", "mask")
MAX_BYTES = 1 << 20
MAX_FILES = 3000
MAX_TEXT = 400
MAX_CELLS = 4096  # cells of a mask, or numbers in a list


class AlreadySealed(ValueError):
    """The prediction has been made already, and can be made only once."""


def read(folder: Path) -> dict[str, dict[str, Any]]:
    """The predictions of the notebooks in `folder`, by name; none if the file is missing or damaged."""
    return _whole(folder / FILE).get("predictions", {})


def seal(folder: Path, name: str, questions: list[dict[str, Any]], answers: list[Any] | None) -> dict[str, Any]:
    """Store the answers (None: the user skipped the question) with the time, and return the entry.

    Raises AlreadySealed if there is one already, OSError if the folder cannot be written.
    """
    whole = _whole(folder / FILE)
    known = whole.setdefault("predictions", {})
    if name in known:
        raise AlreadySealed(f"{name} is already sealed: a prediction can be made only once")
    known[name] = {"questions": questions, "answers": answers, "at": datetime.now(UTC).isoformat(timespec="seconds")}
    _write(folder, whole)
    return known[name]


def add_outcome(folder: Path, name: str, observed: list[Any]) -> None:
    """Store the latest observed result beside a sealed prediction."""
    whole = _whole(folder / FILE)
    entry = whole.get("predictions", {}).get(name)
    if entry is not None and entry.get("observed") != observed:
        entry["observed"] = observed
        _write(folder, whole)


def _whole(path: Path) -> dict[str, Any]:
    """The valid entries of a file, since students can write anything into it."""
    try:
        found = read_small_json(path, MAX_BYTES)
        entries = {str(name)[:MAX_TEXT]: one for name, one in found["predictions"].items() if is_entry(one)}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}
    texts = {key: found[key] for key in ("token", "student") if isinstance(found.get(key), str)}
    return {**texts, "predictions": entries}


def is_entry(one: Any) -> bool:
    """Whether it is a prediction as `seal` writes it."""
    if not isinstance(one, dict) or not isinstance(one.get("at"), str) or not isinstance(one.get("questions"), list):
        return False
    questions, lists = one["questions"], (one.get("answers"), one.get("observed"))
    valid = all(isinstance(q, dict) and q.get("kind") in KINDS and isinstance(q.get("label"), str) for q in questions)
    return valid and all(
        found is None
        or (
            isinstance(found, list)
            and len(found) == len(questions)
            and all(_fits(q["kind"], value) for q, value in zip(questions, found, strict=True))
        )
        for found in lists
    )


def _fits(kind: str, value: Any) -> bool:
    """Whether a value fits a question of this kind; None, which means no answer, fits every kind."""
    if value is None:
        return True
    if kind == "number":
        return _is_number(value)
    if kind == "choice":
        return isinstance(value, list) and all(isinstance(text, str) and len(text) <= MAX_TEXT for text in value)
    if kind == "mask":
        rows = value if isinstance(value, list) else [None]
        fine = all(isinstance(row, list) and all(isinstance(cell, bool) for cell in row) for row in rows)
        return fine and sum(map(len, rows)) <= MAX_CELLS
    return isinstance(value, list) and len(value) <= MAX_CELLS and all(map(_is_number, value))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _write(folder: Path, whole: dict[str, Any]) -> None:
    whole.setdefault("token", secrets.token_hex(8))
    whole["student"] = student_name()
    replace_file(folder / FILE, whole)
    if shared := os.environ.get(FOLDER):
        replace_file(Path(shared) / f"{whole['student']}.{whole['token']}.json", whole)


def replace_file(target: Path, whole: dict[str, Any]) -> None:
    """Write the file atomically, so that a reader never sees half of it."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile("w", dir=target.parent, suffix=".tmp", delete=False, encoding="utf-8") as file:
        json.dump(whole, file, indent=1)
    os.chmod(file.name, 0o644)  # instructors must be able to read it
    os.replace(file.name, target)


def of_class(root: Path, shared: str | None) -> list[dict[str, Any]]:
    """Every prediction of a class: its name, its questions, and the students' answers in order of time.

    Read from the shared folder, and from submissions to the courses under `root`; one student's prediction counts once.
    Entries whose questions differ from the first's belong to another version of the lesson and are left out.
    """
    found: dict[str, dict[str, Any]] = {}
    for student, name, entry in _entries(root, shared):
        one = found.setdefault(name, {"name": name, "questions": entry["questions"], "observed": None, "by": {}})
        if entry["questions"] == one["questions"]:
            one["by"].setdefault(student, {"student": student, "at": entry["at"], "answers": entry["answers"]})
            one["observed"] = one["observed"] or entry.get("observed")
    in_order = (one for _, one in sorted(found.items()))
    return [{**one, "by": sorted(one["by"].values(), key=lambda answer: answer["at"])} for one in in_order]


def hide_names(found: list[dict[str, Any]]) -> None:
    """Replace the names of students in the result of `of_class` by numbers, in the order of their first answers."""
    answers = sorted((answer["at"], answer["student"]) for one in found for answer in one["by"])
    numbers = {student: str(n) for n, student in enumerate(dict.fromkeys(student for _, student in answers), 1)}
    for one in found:
        for answer in one["by"]:
            answer["student"] = numbers[answer["student"]]


def _entries(root: Path, shared: str | None) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for student, path in _files(root, shared):
        whole = _whole(path)
        claimed = whole.get("student", path.stem)[:MAX_TEXT]
        if not student and not (path.name.startswith(f"{claimed}.") and is_of(path, claimed)):
            continue  # somebody else's file in this student's name
        for name, entry in whole.get("predictions", {}).items():
            yield student or claimed, name, entry


def _files(root: Path, shared: str | None) -> Iterator[tuple[str, Path]]:
    """Files with their students: by the folder where nbgrader collected them, or "" if only the file identifies
    them."""
    if shared and os.access(shared, os.R_OK):
        files = (path for path in sorted(Path(shared).glob("*.json")) if not path.name.endswith(".progress.json"))
        yield from (("", path) for path in islice(files, MAX_FILES))
    for course in course_folders(root):
        for path in sorted(course.glob(f"submitted/*/*/{FILE.as_posix()}"))[:MAX_FILES]:
            yield path.relative_to(course / "submitted").parts[0], path
