"""The rubric of each question: items with a text and points, which markers choose and which the feedback shows.

The rubrics are in `rubric.toml` in the course directory, which may be edited and kept under version control. A removed
item stays in the file as `dropped`, since marks that were given with it still count its points.
"""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from autograder.marking.store import MarkedCell

FILE = "rubric.toml"
HEAD = """\
# The rubric: what markers choose for each question, as assignment/notebook/question. Points and sentences may be edited
# here; the marking page then offers to apply the change to the marks that were given before. Keep the ids as they are.
"""
LINE = re.compile(r"^- (\d+(?:[.,]\d+)?) points?: (.+)$")
FAULT = re.compile(r"^- Not enough: (.+)$")
BULLET = re.compile(r"^\s*([-*+]|\d+[.)]) ")
CODE = re.compile(r"(`[^`]*`|\$[^$]*\$)")  # code and formulas, in which an asterisk is an operator
EMPHASIS = re.compile(r"(?<![\w*])(\*{1,3})(?=[^\s*])([^*]*[^\s*])\1(?![\w*])")
SEEDED_BY = "mark scheme"
MAX_TEXT = 2_000  # characters of a sentence


class BadRubric(Exception):
    """The rubric cannot be read, or an item is invalid; the message says why."""


@dataclass(frozen=True)
class RubricItem:
    """A text, and the points that it adds: None if it is only a comment."""

    id: int
    text: str
    points: float | None
    author: str
    dropped: bool = False


Items = tuple[RubricItem, ...]
Rubric = dict[MarkedCell, Items]


def read(root: Path) -> Rubric:
    """The items of every question. Raises BadRubric if the file cannot be read."""
    try:
        found = tomllib.loads((root / FILE).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise BadRubric(f"{root / FILE} cannot be read: {error}") from error
    return dict(_question(root / FILE, key, items) for key, items in found.items())


def write(root: Path, rubric: Rubric) -> None:
    """Write the rubric file, replacing an older one atomically."""
    tables = [_table(of, one) for of, items in sorted(rubric.items()) for one in items]
    new = root / f".{FILE}.new"
    new.write_text("\n".join([HEAD, *tables]), encoding="utf-8")
    new.replace(root / FILE)


def items_from_mark_scheme(scheme: str) -> Items:
    """The items of a mark scheme: its lines that earn points, and those that are not enough."""
    return tuple(RubricItem(n, text, points, SEEDED_BY) for n, (text, points) in enumerate(_lines(scheme), 1))


def add(items: Items, text: str, points: float | None, author: str) -> Items:
    """The items and a new one, which gets the highest id. Raises BadRubric if the new item is invalid."""
    number = 1 + max((one.id for one in items), default=0)
    return (*items, _check(RubricItem(number, text.strip(), points, author)))


def change(items: Items, number: int, **changes: Any) -> Items:
    """The items with the given fields of item `number` changed. Raises BadRubric if there is no such item."""
    if number not in {one.id for one in items}:
        raise BadRubric(f"the rubric has no item {number}: someone has changed it, so reload the question")
    return tuple(_check(replace(one, **changes)) if one.id == number else one for one in items)


def find_items(items: Items, numbers: Sequence[int]) -> Items:
    """The items of these numbers, in the order of the rubric. Raises BadRubric if a number is missing."""
    if missing := set(numbers) - {one.id for one in items}:
        raise BadRubric(f"the rubric has no item {min(missing)}: someone has changed it, so reload the question")
    return tuple(one for one in items if one.id in set(numbers))


def points_of(chosen: Items, most: float, extra: float = 0.0) -> float:
    """The sum of the chosen items' points and of `extra`, clamped to the range from 0 to `most`."""
    return min(most, max(0.0, sum(one.points or 0.0 for one in chosen) + extra))


def feedback_comment(chosen: Items, own: str) -> str:
    """The comment in the feedback: a line for each chosen item, then the marker's own text."""
    return "\n".join([*(one.text for one in chosen), *([own.strip()] if own.strip() else [])])


def _check(item: RubricItem) -> RubricItem:
    if not item.text.strip() or len(item.text) > MAX_TEXT:
        raise BadRubric(f"the text of a rubric item must have 1 to {MAX_TEXT} characters")
    if item.points is not None and not math.isfinite(item.points):
        raise BadRubric("the points of a rubric item must be a number")
    return item


def _lines(scheme: str) -> Iterator[tuple[str, float | None]]:
    for line in _bullets(scheme):
        if match := LINE.match(line):
            text = match.group(2).strip()
            yield text[:1].upper() + text[1:], float(match.group(1).replace(",", "."))
        elif match := FAULT.match(line):
            yield f"Not enough: {match.group(1).strip()}", 0.0


def _bullets(scheme: str) -> Iterator[str]:
    """The lines of a scheme; the further lines of a bullet are joined to its first, without marks of emphasis."""
    block: list[str] = []
    for line in [*scheme.splitlines(), ""]:
        if block and (not line.strip() or BULLET.match(line)):
            yield _without_emphasis(" ".join(block))
            block = []
        if line.strip():
            block.append(line.strip() if block else line.rstrip())


def _without_emphasis(text: str) -> str:
    """The text without Markdown's emphasis, since an item is shown as it is: `for *each* word` -> `for each word`."""
    parts = CODE.split(text)  # the odd ones are code
    return "".join(part if n % 2 else EMPHASIS.sub(r"\2", part) for n, part in enumerate(parts))


def _question(path: Path, key: str, tables: Any) -> tuple[MarkedCell, Items]:
    of = key.split("/")
    try:
        items = tuple(_item(table) for table in tables)
    except (BadRubric, KeyError, TypeError, ValueError, AttributeError):
        items = ()
    if len(of) != 3 or not items or len({one.id for one in items}) < len(items):
        raise BadRubric(
            f"{path}: each table of {key!r} needs a unique id, a text, and points that are a number or left out; "
            "its name is assignment/notebook/question"
        )
    return MarkedCell(*of), items


def _item(table: Mapping[str, Any]) -> RubricItem:
    points = table.get("points")
    if not isinstance(table["id"], int) or not isinstance(table["text"], str):
        raise TypeError
    value = None if points is None else float(points)
    return _check(RubricItem(table["id"], table["text"], value, str(table.get("by", "")), bool(table.get("dropped"))))


def _table(of: MarkedCell, item: RubricItem) -> str:
    parts = [f"[[{_text('/'.join(of))}]]", f"id = {item.id}"]
    parts += [f"points = {item.points:g}"] if item.points is not None else []
    parts += [f"text = {_text(item.text)}", f"by = {_text(item.author)}"]
    return "\n".join([*parts, *(["dropped = true"] if item.dropped else [])]) + "\n"


def _text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
