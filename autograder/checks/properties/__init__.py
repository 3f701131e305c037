"""The library of properties that a unit's checks.py can test; each is a function in a file of the same name.

Other packages add theirs by an entry point of the group `autograder.checks` that names the function. All are
imported by name from `autograder.checks`, each when it is first used. Two with one name are an error that names both.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from autograder.exercises import plugins

GROUP = "autograder.checks"


@cache
def places() -> dict[str, str]:
    """Name of each property -> where its function is, "module:function"; imports none of them."""
    builtin = {file.stem: f"{__name__}.{file.stem}:{file.stem}" for file in Path(__file__).parent.glob("[!_]*.py")}
    return plugins.list_entries(GROUP, "properties", builtin)


def find(name: str) -> Callable[..., Any]:
    """The function that makes the checks of a property. Raises LookupError for an unknown name."""
    if name not in places():
        raise LookupError(f"there is no property {name!r}; available: {', '.join(places())}")
    found: Callable[..., Any] = plugins.load(places()[name])
    return found
