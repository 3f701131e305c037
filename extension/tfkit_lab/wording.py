"""What an instructor reads in place of ids: titles of exercises, and misconceptions as sentences with an example.

The example is the wrong answer of the course's own collection, so that it can be shown to a class without being
anybody's. Loads no torch: exercises are listed by what installed courses offer, and wrong answers are read from files.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any

from autograder.api import Exercise
from autograder.exercises.answers import Answer, BadCorpus, EditedAnswer, answers
from autograder.exercises.registry import TwoExercises, exercises
from autograder.feedback.translate import OWN_FOLDER, catalogue

MAX_LINES = 12  # of an example
NAME = re.compile(r"[a-z]\w{0,59}", re.ASCII)  # of a misconception: a student can write anything into their own record


def titles(names: Iterable[str], language: str) -> dict[str, str]:
    """Exercise -> its title in the language; those of no installed course are left out."""
    found = by_id()
    return {name: _said(found[name].title, found[name], language) for name in names if name in found}


def with_sentences(exercise: str, entries: Iterable[dict[str, Any]], language: str) -> list[dict[str, Any]]:
    """Each entry, which names a `misconception`, with its `sentence` and the lines of an `example`, where the course
    has them. Left out is what is no name."""
    named = (entry for entry in entries if NAME.fullmatch(entry["misconception"]))
    return [{**entry, **_sentence_and_example(exercise, entry["misconception"], language)} for entry in named]


def _sentence_and_example(exercise: str, name: str, language: str) -> dict[str, Any]:
    own = by_id().get(exercise)
    found = _mistakes(exercise).get(name) if own else None
    if own is None or not isinstance(found, EditedAnswer):
        return {"sentence": name.replace("_", " "), "example": []}
    first, *_ = _said(found.sentence, own, language).split("\n\n")
    return {"sentence": " ".join(first.split()), "example": _changed_lines(found)}


def _changed_lines(answer: EditedAnswer) -> list[str]:
    """The lines that make the answer wrong; none where its file does not fit the right answer that it changes."""
    try:
        lines = [line for part in answer.replacements for line in part.lines]
    except BadCorpus:
        return []
    return [line for line in lines if line.strip()][:MAX_LINES]


def by_id() -> dict[str, Exercise]:
    """The exercises of all installed courses, by their ids; none while two of them have one name."""
    try:
        return _index()
    except TwoExercises:  # the check says so; the class is shown by its ids
        return {}


@lru_cache(maxsize=1)
def _index() -> dict[str, Exercise]:
    return {exercise.id: exercise for exercise in exercises()}


@lru_cache(maxsize=256)
def _mistakes(exercise: str) -> dict[str, Answer]:
    try:
        return {one.stem: one for kind in ("wrong", "edge") for one in answers(by_id()[exercise], kind)}
    except BadCorpus:
        return {}


def in_language(text: str, language: str) -> str:
    """The autograder's own words, such as the name of a check, in the language."""
    return _in_catalogue(text, OWN_FOLDER, language)


def _said(text: str, exercise: Exercise, language: str) -> str:
    """The words of a unit in the language."""
    return _in_catalogue(text, exercise.folder, language)


def _in_catalogue(text: str, folder: Path | None, language: str) -> str:
    """The text in the language, or as it is where the folder has no translation."""
    try:
        found = catalogue(folder, language) if folder and language.isalpha() else None
    except OSError:  # no catalogue
        return text
    entry = found.find(text) if found else None
    return entry.msgstr if entry is not None and entry.msgstr else text
