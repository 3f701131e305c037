"""Takes from several lists in turn, so that each has its share of what fits."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import zip_longest
from typing import TypeVar

T = TypeVar("T")
NOTHING = object()


def in_turn(lists: Iterable[Sequence[T]]) -> list[T]:
    """The first of each list, then the second of each, and so on."""
    rounds = zip_longest(*lists, fillvalue=NOTHING)
    return [one for each in rounds for one in each if one is not NOTHING]  # type: ignore[misc]
