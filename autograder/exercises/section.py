"""Where an exercise is taught: the heading in its unit's lesson above its cell."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

from autograder.api import Exercise
from autograder.feedback.translate import translate_text

_MARKER = re.compile(r"# %%(?P<rest>.*)")
_EXERCISE = re.compile(r'role="exercise".*\bexercise="(?P<id>[^"]+)"')
_HEADING = re.compile(r"# (?P<heading>#{2,4} \S.*)")


def section_of(exercise: Exercise) -> tuple[str, str] | None:
    """The unit, and the heading of the exercise's section in the reader's language; None without a lesson."""
    lesson = exercise.folder / "lesson.py" if exercise.folder else None
    if lesson is None or not lesson.is_file():  # a package may bring checks without a lesson
        return None
    heading = _headings(lesson, lesson.stat().st_mtime_ns).get(exercise.id)
    return (exercise.unit, translate_text(heading, exercise.folder).lstrip("# ")) if heading else None


@lru_cache(maxsize=64)
def _headings(lesson: Path, _changed: int) -> dict[str, str]:
    """For each exercise the last heading of text above its cell."""
    found: dict[str, str] = {}
    heading, is_text = "", False
    for line in lesson.read_text(encoding="utf-8").splitlines():
        if marker := _MARKER.match(line):
            is_text = "[markdown]" in marker["rest"]
            if own := _EXERCISE.search(marker["rest"]):
                found.setdefault(own["id"], heading)
        elif is_text and (title := _HEADING.fullmatch(line.rstrip())):
            heading = title["heading"]
    return found
