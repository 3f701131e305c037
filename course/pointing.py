"""Phrases of a lesson that point: `[row 2](#show:rows=2)` lights that row in the figures, predictions and cards of its
section, in JupyterLab with the extension (extension/src/widgets/pointing.ts). Elsewhere such a link leads nowhere.

After `#show:` stand, joined by `&`:

- `rows=2`, `cols=0..3`, `rows=0,2`: numbers from 0, ranges with both ends, and -1 for the last;
- `part=past,self`: of a square matrix `past`, `self`, `future`, `previous` or `next` columns of each row;
- `map=1`: this map alone, from 0, of the section's nearest figure: the last above the phrase, else the first below;
- `in=table`: the tables of the text's own cell, in which the first column has the names;
- `code=tril`: the lines of the section's code with this text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import parse_qs

from nbformat import NotebookNode

SCHEME = "#show:"
POINTER = re.compile(r"\]\((#show:[^)\s]*)\)")
HEADING = re.compile(r"^##? ", re.MULTILINE)
RANGES = re.compile(r"(-1|\d+(\.\.\d+)?)(,(-1|\d+(\.\.\d+)?))*")
PARTS = {"past", "self", "future", "previous", "next"}
DRAWN = re.compile(r"\bshow\.\w+\(|\bpredict\.mask\(|### BEGIN SOLUTION")  # figures, predictions, cards


def problems(notebook: NotebookNode) -> Iterator[tuple[str, str]]:
    """The phrases that point at nothing: the id of each one's cell, and what is wrong with it."""
    for index, cell in enumerate(notebook.cells):
        if cell.cell_type == "markdown":
            for found in POINTER.finditer(cell.source):
                if what := _problem(found[1], list(_section(notebook.cells, index, found.start()))):
                    yield cell.id, f"{found[1]} {what}"


def _section(cells: list[NotebookNode], index: int, at: int) -> Iterator[NotebookNode]:
    """The cells of the section of a phrase that stands at a place of a cell's text: those between two headings."""
    source = cells[index].source
    first, last = index, index
    if not HEADING.search(source[:at]):
        while first > 0 and not (first < index and _begins(cells[first])):
            first -= 1
    if not HEADING.search(source[at:]):
        while last + 1 < len(cells) and not _begins(cells[last + 1]):
            last += 1
    yield from cells[first : last + 1]


def _begins(cell: NotebookNode) -> bool:
    return cell.cell_type == "markdown" and bool(HEADING.search(cell.source))


def _problem(link: str, section: list[NotebookNode]) -> str:
    asked = {key: values[-1] for key, values in parse_qs(link.removeprefix(SCHEME), keep_blank_values=True).items()}
    if unknown := sorted(set(asked) - {"rows", "cols", "part", "map", "in", "code"}):
        return f"has {unknown[0]!r}, which is none of rows, cols, part, map, in and code"
    if any(not RANGES.fullmatch(asked[side]) for side in ("rows", "cols") if side in asked):
        return "has rows or cols that are no numbers: write 2, 0..3, 0,2 or -1"
    if unknown := sorted(set(asked.get("part", "self").split(",")) - PARTS):
        return f"has the part {unknown[0]!r}, which is none of {', '.join(sorted(PARTS))}"
    if not asked.get("map", "0").isdigit():
        return "has a map that is no number: the first is 0"
    if asked.get("in", "table") != "table":
        return "has an `in` that is not table"
    if not {"rows", "cols", "part", "map"} & set(asked) and not asked.get("code"):
        return "does not say what it points at"
    code = [cell.source for cell in section if cell.cell_type == "code"]
    if "code" in asked and not any(asked["code"] in source for source in code):
        return f"points at code with {asked['code']!r}, which no cell of its section has"
    if asked.keys() == {"code"} or "in" in asked:
        return ""
    drawn = [source for source in code if DRAWN.search(source)]
    return "" if drawn else "points at a matrix, and no cell of its section draws one"
