"""What the views of `tfkit_lab.show` build on: a trace that is looked at place by place, and tables of its numbers."""

from __future__ import annotations

import html
from abc import abstractmethod
from collections.abc import Iterable
from typing import Any

import traitlets

from tfkit_lab.widgets import View

_CELL = "padding:0 10px 0 0;text-align:left;border:0;background:none"


class Picture(View):
    """A trace that is looked at place by place; `place` says where: a row, a column, a layer …"""

    kept = ("place",)
    place = traitlets.Dict().tag(sync=True)

    def figure(self) -> str:
        """HTML of the body under its title, without any script."""
        title = html.escape(self.trace["title"])
        caption = f"<figcaption><strong>{title}</strong></figcaption>"
        return f'<figure class="tfkit-static" style="margin:0">{caption}{self.body()}</figure>'

    @abstractmethod
    def body(self) -> str:
        """What stands under the title where no script runs, as HTML."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.trace['title']!r})"


def table(head: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    """Words and numbers, escaped; nothing where there are no rows."""
    cell = lambda tag, value: f'<{tag} style="{_CELL}">{html.escape(format_number(value))}</{tag}>'
    lines = ["".join(cell("td", value) for value in row) for row in rows]
    if not lines:
        return ""
    top = "".join(cell("th", name) for name in head)
    return f'<table style="border-collapse:collapse"><tr>{top}</tr><tr>{"</tr><tr>".join(lines)}</tr></table>'


def format_number(value: Any) -> str:
    """Four digits of a float, thousands parted by commas in an int; else str."""
    return f"{value:.4g}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)
