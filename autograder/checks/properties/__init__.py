"""The library of properties: what a unit's checks.py asks of an answer; a file each, whose function has its name.

Other packages add theirs by an entry point of the group `autograder.checks`, whose value is the function. All are
imported by name from `autograder.checks`, and none before it is used. Two of one name are an error that names both.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from autograder import doors

GROUP = "autograder.checks"


@cache
def places() -> dict[str, str]:
    """Name of each property -> where its function is, "module:function"; imports none of them."""
    ours = {file.stem: f"{__name__}.{file.stem}:{file.stem}" for file in Path(__file__).parent.glob("[!_]*.py")}
    return doors.list_entries(GROUP, "properties", ours)


def find(name: str) -> Callable[..., Any]:
    """The function that makes the checks of a property. Raises LookupError for a name that there is not."""
    if name not in places():
        raise LookupError(f"there is no property {name!r}; there are {', '.join(places())}")
    found: Callable[..., Any] = doors.load(places()[name])
    return found
