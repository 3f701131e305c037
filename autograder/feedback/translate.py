"""Hints in the reader's language, from a unit's `locale/<language>.po`: LANGUAGE, LC_ALL, LANG, as gettext has it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from pathlib import Path

import polib

from autograder.api import Exercise

OWN_FOLDER = Path(__file__).parents[1]  # autograder/locale
_override: ContextVar[str] = ContextVar("override", default="")  # instead of what the environment asks for


@contextmanager
def override_language(wanted: str) -> Iterator[None]:
    """Inside the block `say` translates into this language, if it has a catalogue, whatever the environment asks."""
    known = wanted == "en" or (wanted.isascii() and wanted.isalpha() and catalogue(OWN_FOLDER, wanted) is not None)
    token = _override.set(wanted if known else _override.get())
    try:
        yield
    finally:
        _override.reset(token)


def languages() -> list[str]:
    """What the reader asks for, best first: "fr" for fr_FR.UTF-8. Empty for C and POSIX."""
    if wanted := _override.get():
        return [wanted]
    for name in ("LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"):
        if wish := os.environ.get(name):
            codes = [one.partition(".")[0].partition("@")[0] for one in wish.split(":")]
            return [code.partition("_")[0] for code in codes if code not in ("", "C", "POSIX")]
    return []


def say(text: str, **parts: object) -> str:
    """The autograder's own words in the reader's language, from its `locale/`, with the parts put in their places."""
    translated = translate_text(text, OWN_FOLDER)
    return translated.format(**parts) if parts else translated


def language() -> str:
    """The language in which `say` speaks: the first of the reader's that the autograder has, or English."""
    return next((one for one in languages() if one == "en" or catalogue(OWN_FOLDER, one)), "en")


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
