"""Finds the view of a kind of trace: built-in ones by file name, those of other packages by entry point.

A built-in view is a schema, `schemas/<kind>.json`; its script, `src/widgets/<kind>.ts`; and `show/<kind>.py`, which
records the trace and names the class that draws it as `VIEW`. Another package names its class in the entry point group
`tfkit_lab.views`.
"""

from __future__ import annotations

from autograder.exercises import plugins
from tfkit_lab.trace import SCHEMAS
from tfkit_lab.widgets import View

GROUP = "tfkit_lab.views"


def views() -> dict[str, str]:
    """Kind of trace -> the location of its view's class, "module:attribute"; imports none. Raises ValueError for two of
    one kind."""
    builtin = {file.stem: f"tfkit_lab.show.{file.stem}:VIEW" for file in SCHEMAS.glob("*.json")}
    return plugins.list_entries(GROUP, "views", builtin)


def view_of(kind: str) -> type[View]:
    """The class that draws traces of a kind. Raises ValueError for a kind that no view draws."""
    if kind not in views():
        known = ", ".join(views())
        raise ValueError(f"no view draws traces of kind {kind!r}; available: {known}. Is its package installed?")
    found: type[View] = plugins.load(views()[kind])
    return found
