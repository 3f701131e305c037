"""The settings of the capstone in this course: the `[capstone]` table of its course.toml (every key: docs/settings.md).

    [capstone]
    seconds = 120                # of the processor, for `fit`
    letters = 400000             # of text to train on
    bands = [[0.6, 3], [0.25, 6], [0.12, 8], [0.08, 10]]   # [bits per byte above the text's entropy, points]

Bits count above the text's entropy, because each submission gets a different language, of slightly different entropy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.settings import course_file
from autograder.settings.course_file import CAPSTONE

DEFAULTS: dict[str, Any] = CAPSTONE.defaults


class BadTerms(ValueError):
    """The course.toml that sets the capstone is invalid; the message says which entry is wrong and what to do."""


@dataclass(frozen=True, kw_only=True)
class Terms:
    """seconds: of the processor; letters: to train on; bands: (excess bits per byte, points), from loose to tight;
    windows, length: the number of pieces of new text, and their length in bytes; memory_mb: of the box."""

    seconds: float = DEFAULTS["seconds"]
    letters: int = DEFAULTS["letters"]
    bands: tuple[tuple[float, float], ...] = DEFAULTS["bands"]
    windows: int = DEFAULTS["windows"]
    length: int = DEFAULTS["length"]
    memory_mb: int = DEFAULTS["memory_mb"]

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
    if course_dir is None:
        return Terms()
    try:
        given = course_file.read(course_dir / course_file.FILE).get(CAPSTONE.name, {})
    except course_file.CourseFileError as error:
        raise BadTerms(str(error)) from None
    whole = {name: int(given[name]) for name in ("letters", "windows", "length", "memory_mb") if name in given}
    bands = {"bands": _from_loose_to_tight(given["bands"])} if "bands" in given else {}
    return Terms(**{**given, **whole, **bands})


def _from_loose_to_tight(bands: Sequence[Sequence[float]]) -> tuple[tuple[float, float], ...]:
    return tuple(sorted(((float(most), float(points)) for most, points in bands), reverse=True))
