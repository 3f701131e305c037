"""The questions of a prediction: their kinds, what answers them, and whether an answer is right."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from tfkit_lab import sealed

Question = dict[str, Any]
CLOSE = 1e-6  # relative tolerance for equal numbers


def number(question: str, *, within: float = 0.0) -> Question:
    """Asks for a number, which is right if it is off by at most `within`."""
    return {"kind": "number", "label": question, "within": float(within)}


def numbers(question: str, count: int, *, within: float = 0.0) -> Question:
    """Asks for `count` numbers in their order."""
    return {"kind": "numbers", "label": question, "count": count, "within": float(within)}


def shape(question: str) -> Question:
    """Asks for the shape of a tensor."""
    return {"kind": "shape", "label": question}


def choice(question: str, *options: str, several: bool = False) -> Question:
    """Asks for one option, or with `several` for all that are true, possibly none. ValueError for fewer than two."""
    if len(set(options)) != len(options) or len(options) < 2:
        raise ValueError(f"{question!r} needs two options or more, each given once")
    return {"kind": "choice", "label": question, "options": list(options), "several": several}


def mask(question: str, rows: int | Sequence[str], columns: int | Sequence[str]) -> Question:
    """Asks for the cells of a table that are True. rows, columns: their number or their names."""
    names = [list(map(str, range(side) if isinstance(side, int) else side)) for side in (rows, columns)]
    if not all(names) or len(names[0]) * len(names[1]) > sealed.MAX_CELLS:
        raise ValueError(f"{question!r} needs a table of 1 to {sealed.MAX_CELLS} cells")
    return {"kind": "mask", "label": question, "rows": names[0], "columns": names[1]}


def check_answers(questions: Sequence[Question], answers: Any) -> list[Any]:
    """The answers as they are stored. Raises ValueError, worded for the user, if one does not fit its question."""
    if not isinstance(answers, list) or len(answers) != len(questions):
        raise ValueError("answer each question, or skip the prediction")
    return [stored_value(question, answer) for question, answer in zip(questions, answers, strict=True)]


def is_right(question: Question, answer: Any, observed: Any) -> bool:
    """Whether a prediction is right by its question's own criterion."""
    if answer is None or question["kind"] not in ("number", "numbers"):
        return bool(answer == observed)
    pairs = [(answer, observed)] if question["kind"] == "number" else list(zip(answer, observed, strict=False))
    same = question["kind"] == "number" or len(answer) == len(observed)
    within = question.get("within", 0.0)
    return same and all(math.isclose(a, b, rel_tol=CLOSE, abs_tol=within + CLOSE) for a, b in pairs)


def stored_value(question: Question, value: Any) -> Any:
    """An answer or a result, a tensor too, as it is stored. Raises ValueError if it does not fit the question."""
    value = value.tolist() if hasattr(value, "tolist") else value
    convert = {"number": _number, "numbers": _numbers, "shape": _shape, "choice": _choice, "mask": _mask}
    try:
        return convert[question["kind"]](question, value)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{question['label']} {error}") from None


def _number(question: Question, value: Any) -> float:
    while isinstance(value, list) and len(value) == 1:  # a tensor of one number
        value = value[0]
    found = float(value)
    if not math.isfinite(found):
        raise ValueError("needs a finite number")
    return int(found) if found.is_integer() else found


def _numbers(question: Question, value: Any) -> list[float]:
    found = [_number(question, one) for one in value]
    if len(found) != question["count"]:
        raise ValueError(f"needs {question['count']} numbers, not {len(found)}")
    return found


def _shape(question: Question, value: Any) -> list[int]:
    found = [int(one) for one in value]
    if any(size < 0 for size in found):
        raise ValueError("needs sizes from 0 on")
    return found


def _choice(question: Question, value: Any) -> list[str]:
    chosen = [value] if isinstance(value, str) else list(value)
    if unknown := [one for one in chosen if one not in question["options"]]:
        raise ValueError(f"has no option {unknown[0]!r}")
    if not question["several"] and len(chosen) != 1:
        raise ValueError("needs one of its options")
    return [option for option in question["options"] if option in chosen]


def _mask(question: Question, value: Any) -> list[list[bool]]:
    rows = list(value)
    rows = [list(row) for row in rows] if rows and isinstance(rows[0], list | tuple) else [rows]
    size = len(question["rows"]), len(question["columns"])
    if len(rows) != size[0] or any(len(row) != size[1] for row in rows):
        raise ValueError(f"needs a table of {size[0]} × {size[1]} truth values")
    return [[bool(cell) for cell in row] for row in rows]
