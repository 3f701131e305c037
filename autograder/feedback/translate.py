"""Hints in the reader's language, from a unit's `locale/<language>.po`: LANGUAGE, LC_ALL, LANG, as gettext has it."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path

import polib

from autograder.api import Exercise

OWN_FOLDER = Path(__file__).parents[1]  # autograder/locale


def languages() -> list[str]:
    """What the reader asks for, best first: "fr" for fr_FR.UTF-8. Empty for C and POSIX."""
    for name in ("LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"):
        if wish := os.environ.get(name):
            codes = [one.partition(".")[0].partition("@")[0] for one in wish.split(":")]
            return [code.partition("_")[0] for code in codes if code not in ("", "C", "POSIX")]
    return []


def say(text: str, **parts: object) -> str:
    """The autograder's own words in the reader's language, from its `locale/`, with the parts put in their places."""
    translated = translate_text(text, OWN_FOLDER)
    return translated.format(**parts) if parts else translated


def catalogue(unit: Path, language: str) -> polib.POFile | None:
    """The unit's translations into `language`, or None. Raises OSError with the line where the file is no catalogue."""
    path = unit / "locale" / f"{language}.po"
    return _read(path, path.stat().st_mtime_ns) if path.exists() else None


@lru_cache(maxsize=64)
def _read(path: Path, _changed: int) -> polib.POFile:
    return polib.pofile(str(path), encoding="utf-8")


def translate_text(text: str, unit: Path | None) -> str:
    """`text` in the first of the reader's languages that the unit has it in; as it is if it has none."""
    for language in languages() if unit is not None else ():
        if language == "en":
            return text
        found = catalogue(unit, language)  # type: ignore[arg-type]
        entry = found.find(text) if found else None
        if entry is not None and entry.msgstr:
            return entry.msgstr
    return text


def title_of(exercise: Exercise) -> str:
    """The exercise's title in the reader's language."""
    return translate_text(exercise.title, exercise.folder)
