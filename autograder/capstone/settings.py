"""The settings of the capstone in this course: the `[capstone]` table of its course.toml (every key: docs/settings.md).

    [capstone]
    seconds = 120                # of the processor, for `fit`
    letters = 400000             # of text to train on
    bands = [[0.6, 3], [0.25, 6], [0.12, 8], [0.08, 10]]   # [bits per byte above the text's entropy, points]

Bits count above the text's entropy, because each submission gets a different language, of slightly different entropy.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

FILE = "course.toml"


class BadTerms(ValueError):
    """The `[capstone]` of a course.toml; the message says which entry is wrong and what to do."""


@dataclass(frozen=True, kw_only=True)
class Terms:
    """seconds: of the processor; letters: to train on; bands: (excess bits per byte, points), from loose to tight;
    windows, length: the number of pieces of new text, and their length in bytes; memory_mb: of the box."""

    seconds: float = 120.0
    letters: int = 400_000
    bands: tuple[tuple[float, float], ...] = ((0.6, 3.0), (0.25, 6.0), (0.12, 8.0), (0.08, 10.0))
    windows: int = 64
    length: int = 96
    memory_mb: int = 3072

    @property
    def points(self) -> float:
        """The points of the tightest band."""
        return max(points for _, points in self.bands)

    def points_for(self, excess: float) -> float:
        """The points for `excess` bits per byte above the text's entropy: those of the best band reached; 0 for
        none."""
        return max((points for most, points in self.bands if excess <= most), default=0.0)


def read(course_dir: Path | None) -> Terms:
    """The course's terms, or the defaults. Raises BadTerms, with one line."""
    path = None if course_dir is None else course_dir / FILE
    if path is None or not path.exists():
        return Terms()
    try:
        given = tomllib.loads(path.read_text(encoding="utf-8")).get("capstone", {})
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadTerms(f"{path} is not TOML: {str(error).splitlines()[0]}") from None
    return check_terms(given, str(path))


def check_terms(given: Any, where: str) -> Terms:
    """`given` as terms. Raises BadTerms, which begins with `where`."""
    if not isinstance(given, dict):
        raise BadTerms(f"{where}: capstone must be a table: write [capstone] and seconds = 120 below it")
    known = [field.name for field in fields(Terms)]
    for name, value in given.items():
        if name not in known:
            raise BadTerms(f"{where}: capstone has {name!r}, which is not one of {', '.join(known)}")
        if name != "bands" and not (_is_number(value) and value > 0):
            raise BadTerms(f"{where}: capstone: {name} = {value!r} must be a number above 0")
    made = dict(given)
    if "bands" in made:
        made["bands"] = _bands(made["bands"], where)
    whole = {name: int(made[name]) for name in ("letters", "windows", "length", "memory_mb") if name in made}
    return Terms(**{**made, **whole})


def _bands(given: Any, where: str) -> tuple[tuple[float, float], ...]:
    pairs: Sequence[Any] = given if isinstance(given, Sequence) and not isinstance(given, str) and given else [None]
    for pair in pairs:
        if not (isinstance(pair, Sequence) and len(pair) == 2 and all(_is_number(n) and n >= 0 for n in pair)):
            raise BadTerms(f"{where}: capstone: bands must be pairs, [[1.0, 3], [0.5, 6]]: bits above, points")
    made = tuple((float(most), float(points)) for most, points in pairs)
    ordered = sorted(made, reverse=True)
    if [points for _, points in ordered] != sorted(points for _, points in ordered):
        raise BadTerms(f"{where}: capstone: bands: fewer bits must never earn fewer points")
    return tuple(ordered)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
