"""Whether what a worker sent is the record of a graded submission: it may send anything.

A worker that lies spoils the grades of what it was given, and must do no more: neither end the run of a class, nor fill
the grader's memory, nor give points that its verdicts do not show, since verdicts are what is graded again elsewhere.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, get_args

from autograder.api import CheckResult, Status, Verdict
from tfkit_course.small_file import MALFORMED, NOTEBOOK_BYTES, notebook_cells, parse_json

STATUSES = get_args(Status)
MOST, MOST_CHARACTERS = 100, 2_000  # notes or notebooks of a record; characters of a note
PART = "a worker sent a record whose {part} is none"


def check_record(raw: Any) -> None:
    """Raises ValueError, which says what is wrong, unless this is a record (`GradingRecord`) as a worker makes it."""
    if not isinstance(raw, dict):
        raise ValueError(PART.format(part="list of fields"))
    for part, is_right in (
        ("time", _is_number(raw.get("seconds")) and raw["seconds"] >= 0),
        ("worker", _is_short(raw.get("worker"))),
        ("list of missing notebooks", _are_short(raw.get("missing", {}), dict)),
        ("list of notes", _are_short(raw.get("notes", []), list)),
        ("list of notebooks", isinstance(raw.get("notebooks"), dict) and len(raw["notebooks"]) <= MOST),
        ("list of verdicts", isinstance(raw.get("verdicts"), list) and all(map(_is_verdict, raw["verdicts"]))),
    ):
        if not is_right:
            raise ValueError(PART.format(part=part))
    found = [{"notebook": name} | one for name, text in raw["notebooks"].items() for one in _verdicts(name, text)]
    if found != raw["verdicts"]:
        raise ValueError("a worker sent a record whose verdicts are not those of its notebooks")


def _is_number(value: Any) -> bool:
    """Whether it is a finite number that a float can hold, as an int of hundreds of digits is not."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= sys.float_info.max


def _is_short(value: Any) -> bool:
    return isinstance(value, str) and len(value) <= MOST_CHARACTERS


def _are_short(values: Any, kind: type[dict[str, Any]] | type[list[Any]]) -> bool:
    if not isinstance(values, kind) or len(values) > MOST:
        return False
    return all(map(_is_short, [*values, *values.values()] if isinstance(values, dict) else values))


def _is_verdict(raw: Any) -> bool:
    """Whether it has the fields of a verdict, and a score that is one."""
    try:
        fields = {name: value for name, value in raw.items() if name != "notebook"}
        verdict = Verdict(**fields | {"checks": tuple(CheckResult(**one) for one in raw["checks"])})
    except (AttributeError, KeyError, TypeError):
        return False
    texts = [verdict.exercise, verdict.reason, raw.get("notebook")]
    texts += [text for one in verdict.checks for text in (one.name, one.message)]
    states = [verdict.status, *(one.status for one in verdict.checks)]
    numbers = [verdict.score, verdict.max_score, *(number for one in verdict.checks for number in (one.points, one.of))]
    return (
        all(isinstance(text, str) for text in texts)
        and all(state in STATUSES for state in states)
        and all(map(_is_number, numbers))
        and 0 <= verdict.score <= verdict.max_score
    )


def _verdicts(name: str, text: Any) -> Iterator[dict[str, Any]]:
    """The verdicts in a graded notebook. Raises ValueError if it is none, or gives other points than they say."""
    if Path(name).name != name or not isinstance(text, str):
        raise ValueError("a worker sent a notebook whose name is no file name")
    try:
        if len(text) > NOTEBOOK_BYTES:
            raise ValueError(f"it is larger than {NOTEBOOK_BYTES >> 20} MB")
        cells = notebook_cells(parse_json(text))
    except MALFORMED as error:
        raise ValueError(f"a worker sent a notebook that cannot be read: {error}") from error
    for cell in cells:
        marks = cell["metadata"].get("tfkit")
        verdict = marks.get("verdict") if isinstance(marks, dict) else None
        if verdict:
            if not (isinstance(verdict, dict) and _shows(cell, verdict)):
                raise ValueError("a worker sent a notebook in which points and a verdict differ")
            yield verdict
        elif _earns_points(cell):
            raise ValueError("a worker sent a notebook with a graded cell that has no verdict")


def _earns_points(cell: Mapping[str, Any]) -> bool:
    """Whether nbgrader makes points of the cell's outputs: of one that is also an answer, a person does."""
    marks = cell["metadata"].get("nbgrader")
    is_marked = isinstance(marks, dict) and marks.get("grade") and not marks.get("solution")
    return bool(is_marked) and cell["cell_type"] == "code"


def _shows(cell: Mapping[str, Any], verdict: Mapping[str, Any]) -> bool:
    """Whether the cell's outputs give these points, as `execute.write_verdict` writes them and nbgrader reads them."""
    outputs: Any = cell.get("outputs")
    try:
        if verdict["status"] == "not_graded":
            return [one["output_type"] for one in outputs] == ["display_data", "error"]
        (one,) = outputs
        shown = "".join(one["data"]["text/plain"])  # in a file it is a list of lines
        return one["output_type"] == "execute_result" and shown == repr(float(verdict["score"]))
    except MALFORMED:
        return False
