"""A question whose answer shows the mistake: what must hold of a value in the smallest example, before it is shown.

It is asked only where right answers and the student's differ in what it asks for, so that a prediction can be held
against both. The right answer to it is a size, a count or a sum, and no entry of a right value.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from autograder.checks.probe import Answer, Finding
from autograder.diagnosis.diagnose import simplest
from autograder.feedback.translate import say
from autograder.feedback.words import place, size
from autograder.localize.location import FaultLocation
from autograder.localize.trace import Value

MOST_ENTRIES = 6  # of an input that is written out in the question
MOST_INPUTS = 5
LARGEST = 4096  # numbers of a result whose rows are compared
CLOSE = 1e-3
Measure = Callable[[np.ndarray, np.ndarray], float | None]  # of a row, and the right one; None where it tells nothing
Question = dict[str, Any]  # text, yours, right: the numbers that answer it


def question_of_line(found: FaultLocation, example: Mapping[str, Any] | None) -> Question | None:
    """About the value at the line that departs, if it has a name and is that of the example."""
    faulty = found.faulty_version
    if found.larger is None or found.trace is None or faulty is None or faulty.replacement is None:
        return None
    name = found.trace.producer(faulty.version).name
    yours, right = _numbers(found.trace.values[faulty.version]), _numbers(faulty.replacement)
    return ask(f"`{name}`", yours, right, example) if name and yours is not None and right is not None else None


def _numbers(value: Value) -> np.ndarray | None:
    """The entries, as booleans where they are: a trace keeps all as floats."""
    return value.data if value.data is None or value.dtype_name != "bool" else value.data.astype(bool)


def question_of_result(findings: Sequence[Finding], example: Mapping[str, Any] | None) -> Question | None:
    """About the result of the example. A failure here is a fault of the grader; the student only misses this help."""
    try:
        return _of_result(findings, example)
    except Exception:  # a result may be of any kind
        logging.getLogger(__name__).warning("no question could be asked about a result", exc_info=True)
        return None


def _of_result(findings: Sequence[Finding], example: Mapping[str, Any] | None) -> Question | None:
    shown = simplest(findings)
    answer: Answer | None = shown.simplest if shown is not None else None
    if answer is None:
        return None
    pairs = [(say("the result"), answer.expected, answer.actual)]
    if isinstance(answer.expected, tuple) and isinstance(answer.actual, tuple):
        parts = zip(answer.expected, answer.actual, strict=False)
        pairs = [(say("result {number}", number=n), *pair) for n, pair in enumerate(parts)]
    for name, expected, actual in pairs:
        if _is_plain(expected) and _is_plain(actual):
            yours, right = (_array(one) for one in (actual, expected))
            if (asked := ask(name, yours, right, example)) is not None:
                return asked
    return None


def _array(value: Tensor) -> np.ndarray:
    plain = value.detach().cpu()
    return (plain if plain.dtype == torch.bool else plain.double()).numpy()


def _is_plain(value: Any) -> bool:
    return hasattr(value, "numel") and not value.is_complex() and 0 < value.numel() <= LARGEST


def ask(name: str, yours: np.ndarray, right: np.ndarray, example: Mapping[str, Any] | None) -> Question | None:
    """The first of the kinds of question whose answers differ; None if there is none, or too much to be told."""
    inputs = _inputs(example or {})
    if not inputs:
        return None
    if yours.shape != right.shape:
        return _of_shape(name, yours, right, inputs)
    rows = list(np.ndindex(*right.shape[:-1])) if right.ndim and right.shape[-1] > 1 else []
    asked = (_of_row(text, measure, name, yours, right, where, inputs) for text, measure in KINDS for where in rows)
    return next(filter(None, asked), None)


def _of_shape(name: str, yours: np.ndarray, right: np.ndarray, inputs: str) -> Question | None:
    if not yours.ndim or not right.ndim:  # the shape of a number has nothing to type
        return None
    text = say("For {inputs}: which shape must {name} have?", inputs=inputs, name=name)
    return {"text": text, "yours": list(yours.shape), "right": list(right.shape)}


def _of_row(
    text: str, measure: Measure, name: str, yours: np.ndarray, right: np.ndarray, where: tuple[int, ...], inputs: str
) -> Question | None:
    row, expected = yours[where], right[where]
    mine, wanted = measure(row, expected), measure(expected, expected)
    if mine is None or wanted is None or not abs(mine - wanted) > CLOSE:
        return None
    place_of_row = place((*where, 0)).rpartition(", ")[0]
    told = say("{place} of {name}", place=place_of_row, name=name) if where else name
    asked = say(text, inputs=inputs, name=told, count=row.size)
    return {"text": asked, "yours": [_rounded(mine)], "right": [_rounded(wanted)]}


def _count_of_true(row: np.ndarray, right: np.ndarray) -> float | None:
    return float(row.sum()) if right.dtype == bool and np.isin(row, (0, 1)).all() else None


def _count_of_ones(row: np.ndarray, right: np.ndarray) -> float | None:
    are_bits = right.dtype != bool and all(np.isin(one, (0, 1)).all() for one in (row, right))
    return float(row.sum()) if are_bits else None


def _sum_of_shares(row: np.ndarray, right: np.ndarray) -> float | None:
    """What a row of shares adds up to."""
    shares = right.size > 1 and (right >= 0).all() and abs(right.sum() - 1) < CLOSE
    return float(row.sum()) if shares and np.isfinite(row).all() else None


def _count_of_zeros(row: np.ndarray, right: np.ndarray) -> float | None:
    return float((row == 0).sum()) if np.isfinite(row).all() else None


def _count_of_minus_infinity(row: np.ndarray, right: np.ndarray) -> float | None:
    return float(np.isneginf(row).sum())


KINDS: tuple[tuple[str, Measure], ...] = (
    ("For {inputs}: how many of the {count} entries of {name} must be True?", _count_of_true),
    ("For {inputs}: how many of the {count} entries of {name} must be 1?", _count_of_ones),
    ("For {inputs}: what must the {count} entries of {name} add up to?", _sum_of_shares),
    ("For {inputs}: how many of the {count} entries of {name} must be 0?", _count_of_zeros),
    ("For {inputs}: how many of the {count} entries of {name} must be minus infinity?", _count_of_minus_infinity),
)


def _rounded(number: float) -> float | int:
    return int(number) if number == int(number) else round(number, 3)


def _inputs(example: Mapping[str, Any]) -> str:
    """`q` with shape 2 × 3, `length` = 3; "" for inputs that cannot be told in a sentence."""
    given = example.get("inputs") or {}
    told = [_told(str(name), value) for name, value in given.items()]
    return "" if len(told) > MOST_INPUTS or not all(told) else ", ".join(told)


def _told(name: str, value: Any) -> str:
    if isinstance(value, bool | int | float | None):
        return f"`{name} = {value}`"
    if isinstance(value, str) or not isinstance(value, list):
        return ""
    try:
        array = np.array(value, dtype=object if not value else None)
    except ValueError:  # lists of several lengths
        return ""
    if array.dtype.kind not in "bif":
        return ""
    if array.size <= MOST_ENTRIES and array.dtype.kind in "bi":
        return f"`{name} = {value}`"
    return say("`{name}` with shape {shape}", name=name, shape=size(array.shape))
