"""How many students of a class have each misconception, for the report and for the class panel."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from autograder.api import misconceptions_of


def misconceptions(students: Iterable[Mapping[str, Mapping[str, Any]]]) -> Counter[tuple[str, str]]:
    """(exercise, misconception) -> students whose code behaves like it; students: exercise -> verdict, for each."""
    return Counter(
        (exercise, name) for one in students for exercise, verdict in one.items() for name in misconceptions_of(verdict)
    )
