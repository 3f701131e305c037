"""Predictions: asked before a cell is run, sealed, and compared with the result.

    predict("03.parameters", predict.number("How many parameters with 8 heads?"), predict.number("And with 1?"))

and in the cell below

    guess = predicted("03.parameters")        # stops here until the prediction is sealed or skipped
    ...
    guess.compare(counts[8], counts[1])

They are stored in `.tfkit/predictions.json` beside the notebook (tfkit_lab.sealed). If nobody can answer, as in
`jupyter execute`, in nbgrader and in tests, no question is asked, and the cells below run and show the result.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tfkit_lab import prediction_card, sealed

__all__ = ["predict", "predicted", "predictions_made"]

Question = dict[str, Any]
NOT_SEALED = "Predict first: seal your prediction in the cell above (or skip it there), then run this cell again."
_questions: dict[str, list[Question]] = {}  # the questions asked in this process, by name
CLOSE = 1e-6  # relative tolerance for equal numbers


class NotPredicted(Exception):
    """The cell below a prediction was run before the prediction was made; shown as one line."""

    def _render_traceback_(self) -> list[str]:  # what IPython shows instead of a traceback
        return [str(self)]


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


class Predict:
    """Asks questions by `predict(name, …)`; its attributes are the kinds of questions, so one import is enough."""

    number = staticmethod(number)
    numbers = staticmethod(numbers)
    shape = staticmethod(shape)
    choice = staticmethod(choice)
    mask = staticmethod(mask)

    def __call__(self, name: str, *questions: Question) -> None:
        """Show the questions, to be answered once, or the answers sealed before. `name`: e.g. `03.parameters`.

        Raises ValueError without questions.
        """
        if not questions:
            raise ValueError(f"predict({name!r}) has no questions: pass predict.number(…), predict.choice(…) …")
        _questions[name] = list(questions)
        if _shell() is None:  # a check runs this cell outside a notebook
            return
        from IPython.display import display

        entry = sealed.read(Path.cwd()).get(name)
        if entry is not None:
            display(prediction_card.bundle(name, entry), raw=True)
        elif _user_can_answer():
            from tfkit_lab.prediction_widget import Prediction

            widget = Prediction(name, list(questions), Path.cwd())
            widget.display_handle = display(widget, display_id=True)


predict = Predict()


def predicted(name: str) -> SealedPrediction:
    """The sealed prediction; raises NotPredicted if there is none, but a user could make it."""
    entry = sealed.read(Path.cwd()).get(name) if _shell() else None
    if entry is None and _user_can_answer():
        raise NotPredicted(NOT_SEALED)
    return SealedPrediction(name, entry)


def predictions_made(*names: str) -> None:
    """Print how many of a unit's predictions are made, and which are not. The cell that grades them calls it."""
    entries = sealed.read(Path.cwd())
    missing = [name for name in names if entries.get(name, {}).get("answers") is None]
    summary = f"{len(names) - len(missing)} of {len(names)} predictions made"
    print(f"{summary}; not yet made: {', '.join(missing)}" if missing else summary)


@dataclass(frozen=True)
class SealedPrediction:
    """A prediction that can be compared; `entry` is None if nobody was asked."""

    name: str
    entry: dict[str, Any] | None = field(repr=False)

    def compare(self, *observed: Any) -> None:
        """Show the result beside the prediction, one value for each question: a number, a shape, an option (or a list
        of them), a table of truth values; tensors are accepted.

        Raises ValueError if a value does not fit its question.
        """
        entry = self.entry or {"questions": _questions.get(self.name), "answers": None}
        questions = entry["questions"]
        if questions is None or _shell() is None:  # the cell that asks was not run, so there is nothing to compare with
            return
        if len(observed) != len(questions):
            raise ValueError(f"{self.name} has {len(questions)} questions, but is compared with {len(observed)} values")
        outcomes = [_value(question, one) for question, one in zip(questions, observed, strict=True)]
        if self.entry:
            sealed.add_outcome(Path.cwd(), self.name, outcomes)
        from IPython.display import display

        display(prediction_card.bundle(self.name, {**entry, "observed": outcomes}), raw=True)


def check_answers(questions: Sequence[Question], answers: Any) -> list[Any]:
    """The answers as they are stored. Raises ValueError, worded for the user, if one does not fit its question."""
    if not isinstance(answers, list) or len(answers) != len(questions):
        raise ValueError("answer each question, or skip the prediction")
    return [_value(question, answer) for question, answer in zip(questions, answers, strict=True)]


def is_right(question: Question, answer: Any, observed: Any) -> bool:
    """Whether a prediction is right by its question's own criterion."""
    if answer is None or question["kind"] not in ("number", "numbers"):
        return bool(answer == observed)
    pairs = [(answer, observed)] if question["kind"] == "number" else list(zip(answer, observed, strict=False))
    same = question["kind"] == "number" or len(answer) == len(observed)
    within = question.get("within", 0.0)
    return same and all(math.isclose(a, b, rel_tol=CLOSE, abs_tol=within + CLOSE) for a, b in pairs)


def _value(question: Question, value: Any) -> Any:
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


def _shell() -> Any:
    """The running IPython shell, or None."""
    try:
        from IPython import get_ipython
    except ImportError:
        return None
    return get_ipython()


def _user_can_answer() -> bool:
    """Whether a user can be asked: front ends set `allow_stdin` with each cell, and programs that run notebooks clear
    it; a kernel in the browser has no such setting, and always has a user."""
    if sys.platform == "emscripten":
        return _shell() is not None
    kernel = getattr(_shell(), "kernel", None)
    return bool(getattr(kernel, "_allow_stdin", False))
