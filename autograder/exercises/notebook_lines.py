"""The lines of a notebook's file in which the lines of its cells stand, for editors and reviews that show the file."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from json import JSONDecoder

_SPACE = re.compile(r"[ \t\n\r]*")
_decode = JSONDecoder().raw_decode


def cell_lines(text: str) -> list[list[int]]:
    """For each cell of the notebook, the line of the file (1-based) of each line of its source.

    text: the file's, from which `small_file.parse_json` could read a notebook. A source in one string stands in one
    line of the file.
    """
    ends = [found.start() for found in re.finditer("\n", text)]
    places = dict(_members(text, _skip(text, 0)))
    return [_lines(text, cell, ends) for cell in _items(text, places["cells"])]


def _lines(text: str, cell: int, ends: list[int]) -> list[int]:
    source = dict(_members(text, cell)).get("source")
    if source is None:
        return []
    if text[source] == "[":
        return [bisect_right(ends, place) + 1 for place in _items(text, source)]
    lines = str(_decode(text, source)[0]).splitlines()
    return [bisect_right(ends, source) + 1] * len(lines)


def _members(text: str, place: int) -> Iterator[tuple[str, int]]:
    """The keys of the object that begins at this place, each with the place of its value."""
    place = _skip(text, place + 1)
    while text[place] != "}":
        key, place = _decode(text, place)
        value = _skip(text, _skip(text, place) + 1)  # beyond the colon
        yield key, value
        place = _after(text, value)


def _items(text: str, place: int) -> Iterator[int]:
    """The places of the items of the list that begins at this place."""
    place = _skip(text, place + 1)
    while text[place] != "]":
        yield place
        place = _after(text, place)


def _after(text: str, value: int) -> int:
    """The place behind the value and the comma, if there is one."""
    place = _skip(text, _decode(text, value)[1])
    return _skip(text, place + 1) if text[place] == "," else place


def _skip(text: str, place: int) -> int:
    found = _SPACE.match(text, place)
    return found.end() if found else place
