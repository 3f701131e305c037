"""What a student was asked and answered, in `.tfkit/questions.json` beside the notebook. Imports no torch.

The file is the student's, so that no verdict in it is believed: where a course counts answers, the questions are made
again from the code that was handed in, and only the answers are taken from here.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from autograder.feedback.files import replace_json
from tfkit_course.small_file import MALFORMED, read_small_json

FILE = Path(".tfkit") / "questions.json"
MAX_BYTES = 1 << 20
LONGEST = 400  # characters of a text that is read
VERSIONS = 8  # of the code of an exercise, whose answers are kept
QUESTIONS = 20  # about one version
SIZES, LARGEST = 64, 1e15  # numbers in an answer, and how large they may be
Entry = dict[str, Any]  # the questions about one version of the code, and their first answers


class JudgedAnswers(NamedTuple):
    """How many answers about one exercise are right, of how many that count; and a sentence for the student.

    Without any that count the exercise is left out, unless it is `undecided`: then a person decides.
    """

    right: int
    asked: int
    message: str
    undecided: bool = False


def digest(code: str, seed: int = 0, contract: str = "") -> str:
    """By which the code is known that the questions were about, under the contract of this name."""
    return hashlib.sha256(f"{code}{seed}{contract}".encode("utf-8", "replace")).hexdigest()[:16]


def read(folder: Path) -> dict[str, list[Entry]]:
    """Exercise -> what was answered about each version of its code, the latest last; none if it is missing or
    damaged.
    """
    try:
        return parse(read_small_json(folder / FILE, MAX_BYTES))
    except MALFORMED:
        return {}


def parse(found: Any) -> dict[str, list[Entry]]:
    """As `read`, of the file's value. Raises one of MALFORMED."""
    return {_text(name): _entries(one) for name, one in found["answered"].items()}


def find_entry(entries: Sequence[Entry], code: str) -> Entry | None:
    """What was answered about the code with this digest."""
    return next((one for one in reversed(entries) if one["code"] == code), None)


def _entries(given: Any) -> list[Entry]:
    """Of an earlier version of the lab there is only one."""
    return [_entry(one) for one in ([given] if isinstance(given, dict) else given[-VERSIONS:])]


def _entry(one: Any) -> Entry:
    """Texts of bounded length, whatever is there. Raises what a wrong form raises."""
    asked = [
        {name: _text(question[name]) for name in ("prompt", "answer")}
        | {"right": question["right"] is True, "of": _text(question.get("of", "")), "value": _value(question)}
        for question in one["asked"][:QUESTIONS]
    ]
    told = {"code": _text(one["code"]), "at": _text(one["at"])[:40], "language": _text(one.get("language", "en"))[:8]}
    return {**told, "asked": asked}


def _value(question: Mapping[str, Any]) -> Any:
    """The answer as `read_answer` takes it: a number or a list of numbers; None for anything else."""
    value = question.get("value")
    numbers = value if isinstance(value, list) else [value]
    return value if len(numbers) <= SIZES and all(map(_is_number, numbers)) else None


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < LARGEST


def _text(value: Any) -> str:
    """A text of bounded length that can be encoded: JSON may hold halves of characters."""
    return str(value)[:LONGEST].encode("utf-8", "replace").decode()


def seal(folder: Path, exercise: str, code: str, asked: Sequence[Mapping[str, Any]], language: str = "en") -> bool:
    """Store the questions with their answers; False if those about this code were answered before.

    Raises OSError if the folder cannot be written.
    """
    whole = read(folder)
    entries = whole.setdefault(exercise, [])
    if find_entry(entries, code) is not None:
        return False
    at = datetime.now(UTC).isoformat(timespec="seconds")
    entries.append({"code": code, "at": at, "language": language, "asked": list(asked)})
    replace_json(folder / FILE, {"answered": {name: kept[-VERSIONS:] for name, kept in whole.items()}})
    return True
