"""What a lesson asks for, in its order: predict, build, compare, run an experiment, answer a question."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any

from tfkit_lab.unsealed import MIME as UNSEALED

_HEADING = re.compile(r"^#{1,6}\s+(.+?)\s*#*\s*$", re.MULTILINE)
_COMPARED = re.compile(r"predicted\(\s*[\"']([^\"']+)[\"']")
_NO_ANSWER = re.compile(r"\s*(\*[^*]+\*\s*)?")  # the build puts one sentence in italics into the cell of an answer

Cell = dict[str, Any]
Step = dict[str, Any]


def steps(
    cells: list[Cell], assigned: Iterable[str], predictions: Mapping[str, dict[str, Any]]
) -> list[dict[str, Any]]:
    """The steps of a notebook, each `{"kind", "cell", "title", "done"}`, with its `exercise` or `prediction`.

    assigned: the unit's exercises, of which one without a cell comes last. predictions: the sealed ones. Whether an
    exercise is done is said by its verdict, so its `done` is None.
    """
    found = list(_steps(cells, predictions))
    there = {step.get("exercise") for step in found}
    lost = ({"kind": "exercise", "cell": None, "title": "", "done": None, "exercise": key} for key in assigned)
    return found + [step for step in lost if step["exercise"] not in there]


def _steps(cells: list[Cell], predictions: Mapping[str, dict[str, Any]]) -> Iterator[Step]:
    title = ""
    task = False
    numbered = ((str(cell.get("id", index)), cell) for index, cell in enumerate(cells))
    for kind, group in groupby(numbered, lambda one: _kind(one[1])):
        members = list(group)
        for key, cell in members if kind == "text" else ():
            headings = _HEADING.findall(_source(cell))
            title = headings[-1] if headings else title
            if task:
                yield {"kind": "task", "cell": key, "title": title, "done": not _NO_ANSWER.fullmatch(_source(cell))}
            task = _mark(cell).get("role") == "task"
        if kind in ("exercise", "predict"):
            for key, cell in members:
                yield _single(kind, key, cell, title, predictions)
        elif kind == "reward":
            yield from _rewards(members, title, predictions)


def _kind(cell: Cell) -> str:
    """The kind of a cell; cells of an experiment that follow one another are one step."""
    role = _mark(cell).get("role")
    if cell["cell_type"] == "markdown":
        return "text"
    if role == "exercise" and isinstance(_mark(cell).get("exercise"), str):
        return "exercise"
    if role == "predict" and isinstance(_mark(cell).get("prediction"), str):
        return "predict"
    return "reward" if role == "experiment" or _COMPARED.search(_source(cell)) else "other"


def _single(kind: str, key: str, cell: Cell, title: str, predictions: Mapping[str, Any]) -> Step:
    step = {"kind": kind, "cell": key, "title": title}
    if kind == "exercise":
        return step | {"exercise": _mark(cell)["exercise"], "done": None}
    name = _mark(cell)["prediction"]
    return step | {"prediction": name, "done": name in predictions}


def _rewards(members: list[tuple[str, Cell]], title: str, predictions: Mapping[str, Any]) -> Iterator[Step]:
    """One step for the comparisons of some cells, or for an experiment without any."""
    names = [name for _, cell in members for name in _COMPARED.findall(_source(cell))]
    step = {"cell": members[0][0], "title": title}
    if names:
        seen = all((predictions.get(name) or {}).get("observed") is not None for name in names)
        yield step | {"kind": "compare", "prediction": names[0], "done": seen}
    else:
        yield step | {"kind": "experiment", "done": any(_was_run(cell) for _, cell in members)}


def _was_run(cell: Cell) -> bool:
    """Whether a cell has run to its end: neither stopped with an error nor passed over."""
    outputs = cell.get("outputs") or []
    stopped = any(out.get("output_type") == "error" or UNSEALED in (out.get("data") or {}) for out in outputs)
    return bool(cell.get("execution_count")) and not stopped


def _mark(cell: Cell) -> dict[str, Any]:
    mark = cell["metadata"].get("tfkit", {})
    return mark if isinstance(mark, dict) else {}


def _source(cell: Cell) -> str:
    return "".join(cell["source"])
