"""A view: how often each token occurs. A script, a schema, and a class that names them; no bundler and no npm."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from tfkit_lab.pictures import Picture, table

HERE = Path(__file__).parent


class Bag(Picture):
    """Counts as bars. `script` is what anywidget runs, what an exported page carries and what the JupyterLab plugin
    loads; `schemas` is the folder in which the schema of its kind lies, by the kind's name."""

    _esm = script = HERE / "bag.js"
    schemas = HERE

    def body(self) -> str:
        return table(("token", "times"), self.trace["counts"])


def bag(tokens: Iterable[str], title: str = "Bag of words") -> Bag:
    """The view of a text."""
    counts = [[token, count] for token, count in Counter(tokens).most_common()]
    return Bag({"schema": "tfkit.trace/1", "kind": "bag", "title": title, "counts": counts})
