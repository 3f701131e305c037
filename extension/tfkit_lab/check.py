"""Runs `autograder check` on cells that a browser sent, asynchronously, in a separate process group."""

from __future__ import annotations

import asyncio
import math
import re
from pathlib import Path
from typing import Any

from autograder.checking.client import CheckClient, CheckFailed
from autograder.feedback.html import verdict_html
from autograder.sandbox import NO_SANDBOX
from tfkit_course.small_file import parse_json
from tfkit_lab.course import STATES

MAX_CELLS = 500
MAX_SOURCE = 2 << 20  # characters in total
MAX_CODE = 4000  # characters of a generated cell
NO_SANDBOX_HERE = (
    "no sandbox works on this server, so the button cannot check here: run the cell with check(…) instead, "
    "which counts as well (for the administrator: `autograder doctor` says what is missing)"
)
_client = CheckClient(own_group=True)
_CALL = re.compile(r"[A-Za-z_]\w*(\([\w\s.,=]*\))?")
_EXERCISE = re.compile(r"[a-z0-9_]+(\.[a-z0-9_]+)+")
_META = ("role", "exercise")


class BadRequest(ValueError):
    """The request is not valid; the message says why."""


def parse(body: bytes) -> tuple[str, list[dict[str, Any]], str]:
    """The exercise, the code cells and the notebook's path in a request's body; BadRequest for anything else."""
    fields = _parse(body)
    if not isinstance(fields, dict):
        raise BadRequest("the body must be an object with `exercise` and `cells`")
    exercise, cells = fields.get("exercise"), fields.get("cells")
    if not isinstance(exercise, str) or not _EXERCISE.fullmatch(exercise):
        raise BadRequest("`exercise` must be an exercise's id, as in attention.multi_head")
    if not isinstance(cells, list) or len(cells) > MAX_CELLS:
        raise BadRequest(f"`cells` must be a list of at most {MAX_CELLS} cells")
    path = fields.get("path", "")
    if not isinstance(path, str):
        raise BadRequest("`path` must be the notebook's path below the server's folder")
    return exercise, [_cell(index, cell) for index, cell in enumerate(_small(cells))], path


def _parse(body: bytes) -> Any:
    try:
        return parse_json(body.decode("utf-8"))
    except ValueError as error:
        raise BadRequest(f"the body is not JSON: {error}") from error


def parse_outcome(body: bytes) -> dict[str, Any]:
    """The outcome of a check in the kernel, for `course.record`; raises BadRequest for anything else."""
    found = _parse(body)
    if not isinstance(found, dict) or not isinstance(found.get("exercise"), str):
        raise BadRequest("the body must be an object with `exercise`, `status`, `score` and `max_score`")
    if not _EXERCISE.fullmatch(found["exercise"]):
        raise BadRequest("`exercise` must be an exercise's id, as in attention.multi_head")
    if found.get("status") not in STATES:
        raise BadRequest(f"`status` must be one of {', '.join(STATES)}")
    if not all(_points(found.get(key)) for key in ("score", "max_score")):
        raise BadRequest("`score` and `max_score` must be numbers from 0")
    if not isinstance(found.get("misconception"), str | None):
        raise BadRequest("`misconception` must be a name, or null")
    names = found.get("misconceptions", [])
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise BadRequest("`misconceptions` must be a list of names")
    return found


def _points(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < math.inf


def _small(cells: list[Any]) -> list[Any]:
    size = sum(len(cell["source"]) for cell in cells if isinstance(cell, dict) and isinstance(cell.get("source"), str))
    if size > MAX_SOURCE:
        raise BadRequest(f"the cells hold {size} characters, the limit is {MAX_SOURCE}")
    return cells


def _cell(place: int, cell: Any) -> dict[str, Any]:
    if not isinstance(cell, dict) or not isinstance(cell.get("source"), str):
        raise BadRequest(f"cells[{place}] must be an object with a `source` text")
    mark = {key: cell[key] for key in _META if cell.get(key) is not None}
    if not all(isinstance(value, str) for value in mark.values()):
        raise BadRequest(f"cells[{place}]: role and exercise must be texts")
    return {
        "cell_type": "code",
        "id": f"cell-{place}",
        "metadata": {"tfkit": mark} if mark else {},
        "source": cell["source"],
        "outputs": [],
        "execution_count": None,
    }


async def prepare() -> None:
    """Loads what a check needs before the first request."""
    await asyncio.to_thread(prepare_blocking)


def prepare_blocking() -> None:
    """As `prepare`, for a thread of its own."""
    _client.prepare()


async def check(exercise: str, cells: list[dict[str, Any]], folder: Path | None = None) -> dict[str, Any]:
    """The verdict's JSON. Cancelling the task ends the whole process group. Raises CheckFailed without a verdict.

    `folder`: the notebook's folder, which may contain the course's own misconceptions.
    """
    try:
        with _client.check(exercise, cells, folder) as running:
            found = await asyncio.to_thread(running.verdict)
    except CheckFailed as error:
        raise (CheckFailed(NO_SANDBOX_HERE) if NO_SANDBOX in str(error) else error) from None
    card = verdict_html(found, styled=False)  # the front end has the style sheet
    return {**found, "code": drawing(found.get("counterexample")), "html": card}


def drawing(example: Any) -> str | None:
    """Python for a cell that draws a counter-example with the code in the kernel. None if that is impossible: it
    needs a call of a function, or of a module with its sizes, and numeric inputs."""
    if not isinstance(example, dict) or not isinstance(example.get("inputs"), dict):
        return None
    given = [f"    {name}={_literal(value)},\n" for name, value in example["inputs"].items()]
    call = str(example.get("call"))
    code = f"import torch\nfrom tfkit_lab import show\n\nshow.case(\n    {call},\n{''.join(given)})"
    inputs = example["inputs"].items()
    plain = _CALL.fullmatch(call) and given and all(name.isidentifier() and _plain(value) for name, value in inputs)
    return code if plain and len(code) <= MAX_CODE else None


def _plain(value: Any) -> bool:
    if isinstance(value, list):
        return all(map(_plain, value))
    return value is None or (isinstance(value, int | float) and math.isfinite(value))


def _literal(value: Any) -> str:
    return f"torch.tensor({value!r})" if isinstance(value, list) else repr(value)
