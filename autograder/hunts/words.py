"""The sentences that a hunt's card and the terminal share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from autograder.feedback.matrix import LONGEST, Matrix, entry_text, matrices
from autograder.feedback.translate import say
from autograder.feedback.words import number

TITLE = "Bug hunt"
ONE_FAULT = "This code looks right and has one fault."
FAULTS = "This code looks right and has {count} faults."
DO = "Name the lines that you suspect, write a test that fails on this code and passes on right code, and repair it."
SYMPTOM = "The symptom"
SEEN_IN = "seen in: {what}"
GIVES, SHOULD = "this code gives", "right code gives"
WHOSE = "this code"
NAMES = {"lines": "The lines that you suspect", "test": "Your test", "repair": "Your repair"}
MISSED = "Mistakes that your test does not find"
HEADING = "{part}: {score} of {most} points"
LIST = "{title}: {names}."
WHICH = "Which ones it does not find"
MAX_TABLES = 4  # of one value


def intro(task: Mapping[str, Any]) -> str:
    """How many faults there are."""
    return say(ONE_FAULT) if task["faults"] == 1 else say(FAULTS, count=task["faults"])


def call_of(seen: Mapping[str, Any]) -> str:
    """The call with its arguments, those that are drawn as tables by their names alone; "" without a call."""
    if not seen["call"]:
        return ""
    given = (
        name if matrices("", value) else f"{name}={entry_text(value)[:LONGEST]}"
        for name, value in seen["inputs"].items()
    )
    return f"{seen['call']}({', '.join(given)})"


def tables_of(seen: Mapping[str, Any]) -> list[Matrix]:
    """The inputs, what the code gives with its wrong entries marked, and what right code gives."""
    part = str(seen["part"]).rstrip()
    inputs = [table for name, value in seen["inputs"].items() for table in matrices(name, value)[:MAX_TABLES]]
    faulty = matrices(say(GIVES) + part, seen["faulty"], seen["wrong"])[:MAX_TABLES]
    return [*inputs, *faulty, *matrices(say(SHOULD) + part, seen["right"])[:MAX_TABLES]]


def values_of(seen: Mapping[str, Any]) -> list[str]:
    """The two results in a line each, where they are not drawn as tables; none where a sentence says it all."""
    pairs = ((GIVES, seen["faulty"]), (SHOULD, seen["right"]))
    if all(value is None for _, value in pairs):
        return []
    part = str(seen["part"]).rstrip()
    return [f"{say(name)}{part}: {str(value)[:LONGEST]}" for name, value in pairs if not matrices("", value)]


def heading_of(part: Mapping[str, Any]) -> str:
    """`Your test: 1.4 of 1.5 points`."""
    return say(HEADING, part=say(NAMES[part["name"]]), score=number(part["points"]), most=number(part["of"]))


def missed_of(part: Mapping[str, Any]) -> str:
    """The other mistakes that the test does not find, in a line; "" if there are none."""
    names = ", ".join(name.replace("_", " ") for name in part["missed"])
    return say(LIST, title=say(MISSED), names=names) if names else ""
