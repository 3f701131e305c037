"""Finds plugins: those in our own folders, and those that other packages add by entry points."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import EntryPoint, entry_points
from typing import Any


def list_entries(group: str, what: str, builtin: Mapping[str, str] | None = None) -> dict[str, str]:
    """Name -> "module:attribute" of the built-in plugins and of a group's entry points, sorted by name, none imported.

    An environment may contain the metadata of one package twice, from before and after a renaming, so equal values are
    no conflict. Raises ValueError if two different ones have the same name; `what` is their kind, for the message.
    """
    found = dict(builtin or {})
    for point in entry_points(group=group):
        if found.setdefault(point.name, point.value) != point.value:
            raise ValueError(
                f"two {what} are called {point.name!r}: {found[point.name]} and {point.value}; uninstall one of the two"
            )
    return dict(sorted(found.items()))


def load(target: str) -> Any:
    """Import the object that an entry point's value, "module:attribute", names."""
    return EntryPoint("", target, "").load()
