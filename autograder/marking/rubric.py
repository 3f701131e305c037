"""The rubric of each question: sentences with points, which markers choose and which the feedback shows.

They are in `rubric.toml` in the course directory, a file to be read, edited and kept with the course. An item that is
taken out stays there as `dropped`, since marks that were given with it still count its points.
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
SEEDED_BY = "mark scheme"
MAX_TEXT = 2_000  # characters of a sentence


class BadRubric(Exception):
    """The file cannot be read, or this item cannot be kept; the message says why."""


@dataclass(frozen=True)
class RubricItem:
    """A sentence, and the points that it adds: None where it only comments."""

    id: int
    text: str
    points: float | None
    by: str
    dropped: bool = False


Items = tuple[RubricItem, ...]
Rubric = dict[MarkedCell, Items]


def read(root: Path) -> Rubric:
    """Every question's items. Raises BadRubric."""
    try:
        found = tomllib.loads((root / FILE).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise BadRubric(f"{root / FILE} cannot be read: {error}") from error
    return dict(_question(root / FILE, key, items) for key, items in found.items())


def write(root: Path, rubric: Rubric) -> None:
    """Replace the file."""
    tables = [_table(of, one) for of, items in sorted(rubric.items()) for one in items]
    new = root / f".{FILE}.new"
    new.write_text("\n".join([HEAD, *tables]), encoding="utf-8")
    new.replace(root / FILE)


def items_from_mark_scheme(scheme: str) -> Items:
    """The lines of a mark scheme that a marker can choose: what earns points, and what is not enough."""
    return tuple(RubricItem(n, text, points, SEEDED_BY) for n, (text, points) in enumerate(_lines(scheme), 1))


def add(items: Items, text: str, points: float | None, by: str) -> Items:
    """With one item more, whose id is the highest. Raises BadRubric."""
    number = 1 + max((one.id for one in items), default=0)
    return (*items, _check(RubricItem(number, text.strip(), points, by)))


def change(items: Items, number: int, **changes: Any) -> Items:
    """With other words or points for the item of this number. Raises BadRubric."""
    if number not in {one.id for one in items}:
        raise BadRubric(f"the rubric has no item {number}: it was changed meanwhile, open the question again")
    return tuple(_check(replace(one, **changes)) if one.id == number else one for one in items)


def find_items(items: Items, numbers: Sequence[int]) -> Items:
    """The items of these numbers, in the order of the rubric. Raises BadRubric where there is none of a number."""
    if missing := set(numbers) - {one.id for one in items}:
        raise BadRubric(f"the rubric has no item {min(missing)}: it was changed meanwhile, open the question again")
    return tuple(one for one in items if one.id in set(numbers))


def points_of(chosen: Items, most: float, more: float = 0.0) -> float:
    """What the chosen items are worth together, and `more`, from 0 to `most`."""
    return min(most, max(0.0, sum(one.points or 0.0 for one in chosen) + more))


def feedback_comment(chosen: Items, own: str) -> str:
    """What the feedback says: a line for each chosen item, then the marker's own words."""
    return "\n".join([*(one.text for one in chosen), *([own.strip()] if own.strip() else [])])


def _check(item: RubricItem) -> RubricItem:
    if not item.text.strip() or len(item.text) > MAX_TEXT:
        raise BadRubric(f"an item of a rubric has a sentence of 1 to {MAX_TEXT} characters")
    if item.points is not None and not math.isfinite(item.points):
        raise BadRubric("the points of an item must be a number")
    return item


def _lines(scheme: str) -> Iterator[tuple[str, float | None]]:
    for line in scheme.splitlines():
        if match := LINE.match(line):
            text = match.group(2).strip()
            yield text[:1].upper() + text[1:], float(match.group(1).replace(",", "."))
        elif match := FAULT.match(line):
            yield f"Not enough: {match.group(1).strip()}", 0.0


def _question(path: Path, key: str, tables: Any) -> tuple[MarkedCell, Items]:
    of = key.split("/")
    try:
        items = tuple(_item(table) for table in tables)
    except (BadRubric, KeyError, TypeError, ValueError, AttributeError):
        items = ()
    if len(of) != 3 or not items or len({one.id for one in items}) < len(items):
        raise BadRubric(
            f"{path}: each table of {key!r} needs an id of its own, a text, and points that are a number or left out; "
            "the name is assignment/notebook/question"
        )
    return MarkedCell(*of), items


def _item(table: Mapping[str, Any]) -> RubricItem:
    points = table.get("points")
    if not isinstance(table["id"], int) or not isinstance(table["text"], str):
        raise TypeError
    said = None if points is None else float(points)
    return _check(RubricItem(table["id"], table["text"], said, str(table.get("by", "")), bool(table.get("dropped"))))


def _table(of: MarkedCell, item: RubricItem) -> str:
    parts = [f"[[{_text('/'.join(of))}]]", f"id = {item.id}"]
    parts += [f"points = {item.points:g}"] if item.points is not None else []
    parts += [f"text = {_text(item.text)}", f"by = {_text(item.by)}"]
    return "\n".join([*parts, *(["dropped = true"] if item.dropped else [])]) + "\n"


def _text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
