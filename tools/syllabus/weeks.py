"""Units into weeks: in their order, and so that the fullest week is as light as it can be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from course.settings import Unit

LONG = 180  # minutes from which a unit is done in two sittings
QUARTER = 15  # minutes; the page has hours to the quarter


@dataclass(frozen=True)
class Sitting:
    """A unit or half of one. half: 0 for a whole unit, else 1 or 2."""

    unit: str
    minutes: float
    half: int = 0


def sittings(course: Sequence[Unit]) -> list[Sitting]:
    """The units; long ones in two halves, the first to the quarter of an hour, so that what is shown adds up."""
    found = []
    for unit in course:
        minutes = unit.minutes or 0
        if minutes < LONG:
            found.append(Sitting(unit.name, minutes))
        else:
            first = round(minutes / 2 / QUARTER) * QUARTER
            found += [Sitting(unit.name, first, 1), Sitting(unit.name, minutes - first, 2)]
    return found


def plan(course: Sequence[Unit], weeks: int) -> list[list[Sitting]]:
    """One list of sittings for each week. Raises ValueError if there are fewer sittings than weeks."""
    pieces = sittings(course)
    if len(pieces) < weeks:
        raise ValueError(f"{len(pieces)} sittings cannot fill {weeks} weeks")
    return [pieces[start:end] for start, end in _best(tuple(piece.minutes for piece in pieces), weeks)[1]]


def _best(minutes: Sequence[float], weeks: int) -> tuple[float, list[tuple[int, int]]]:
    """The lightest fullest week and where weeks begin and end, by dynamic programming over the last week."""
    table = {(0, 0): (0.0, [])}  # (sittings, weeks) -> the fullest week, the weeks
    for count in range(1, weeks + 1):
        for end in range(count, len(minutes) + 1):
            options = [
                (max(table[begin, count - 1][0], sum(minutes[begin:end])), [*table[begin, count - 1][1], (begin, end)])
                for begin in range(end)
                if (begin, count - 1) in table
            ]
            table[end, count] = min(options)
    return table[len(minutes), weeks]
