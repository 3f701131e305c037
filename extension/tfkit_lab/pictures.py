"""The base of the views in `tfkit_lab.show`: a trace with a selected position, and tables of its numbers."""

from __future__ import annotations

import html
from abc import abstractmethod
from collections.abc import Iterable
from typing import Any

import traitlets

from tfkit_lab.widgets import View

_CELL = "padding:0 10px 0 0;text-align:left;border:0;background:none"


class Picture(View):
    """A trace with a selected position; `place` holds it: a row, a column, a layer …"""

    kept = ("place",)
    place = traitlets.Dict().tag(sync=True)

    def figure(self) -> str:
        """The title and the body as HTML without scripts."""
        title = html.escape(self.trace["title"])
        caption = f"<figcaption><strong>{title}</strong></figcaption>"
        return f'<figure class="tfkit-static" style="margin:0">{caption}{self.body()}</figure>'

    @abstractmethod
    def body(self) -> str:
        """The HTML below the title, for places without scripts."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.trace['title']!r})"


def table(head: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    """An HTML table with escaped entries; empty if there are no rows."""
    cell = lambda tag, value: f'<{tag} style="{_CELL}">{html.escape(format_number(value))}</{tag}>'
    lines = ["".join(cell("td", value) for value in row) for row in rows]
    if not lines:
        return ""
    top = "".join(cell("th", name) for name in head)
    return f'<table style="border-collapse:collapse"><tr>{top}</tr><tr>{"</tr><tr>".join(lines)}</tr></table>'


def format_number(value: Any) -> str:
    """A float with four digits, an int with commas between thousands, or else str."""
    return f"{value:.4g}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)
