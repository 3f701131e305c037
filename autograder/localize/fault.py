"""Describes, for a verdict, the line at which an answer departs from right ones."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from autograder.api import Exercise
from autograder.checks.probe import Finding
from autograder.feedback.translate import say
from autograder.localize.find import find
from autograder.localize.location import FaultLocation
from autograder.localize.question import question_of_line
from autograder.localize.steps import steps
from autograder.localize.words import picture, relation_phrase, sentence

LONGEST = 200  # characters of a line that are shown


def localize_fault(
    exercise: Exercise, findings: Sequence[Finding], subject: Any, cells: Sequence[tuple[str, str]],
    without: Sequence[str] = (), elsewhere: Collection[str] = (),
    right: Collection[str] = (), own: Collection[str] = (), example: Mapping[str, Any] | None = None,
) -> dict[str, Any] | None:  # fmt: skip
    """`cell`, `line`, its `text`, a `sentence`, the `value` there, its `relation` to the right one, and the `steps` up
    to it; None if it is unknown. Where it is not sure which line is at fault, there are only the steps: `line` is None.
    `elsewhere`: the cells that answer other exercises, of which no line is named; `right`: what they define without
    being at fault; `own`: the cells of this exercise. `example`: the counter-example that is shown, which the
    `question` is about.

    A failure here is a fault of the grader; the student only misses this help.
    """
    try:
        found = find(exercise, findings, subject, cells, without, elsewhere, right)
        described = None if found is None else describe_location(found, dict(cells), own)
        return described and described | {"question": found and question_of_line(found, example)}
    except Exception:  # an unexpected value may break the comparison in any way
        logging.getLogger(__name__).warning("no line could be named for %s", exercise.id, exc_info=True)
        return None


def describe_change(place: tuple[str, int], sources: Mapping[str, str]) -> dict[str, Any]:
    """As `localize_fault`, for the cell and line of which a change makes the answer right: all checks passed.

    The change may be a slip put right, or a whole expression of a right answer: nothing is said of its size. Which
    value departs there is not known, so that there are no steps up to it.
    """
    cell, line = place
    text = sources[cell].splitlines()[line - 1].strip()[:LONGEST]
    told = say("a change of this line alone makes your code right: then all checks pass")
    return {"cell": cell, "line": line, "text": text, "sentence": told, "relation": "", "value": None, "steps": []}


def describe_location(
    found: FaultLocation, sources: dict[str, str], own: Collection[str] = ()
) -> dict[str, Any] | None:
    """As `localize_fault`, for a location that was found. None for a line that the sources do not have."""
    lines = sources.get(found.cell, "").splitlines()
    if not 1 <= found.line <= len(lines):
        return None
    known = steps(found, sources)
    if not found.sure:
        nothing = {"text": "", "sentence": "", "relation": "", "value": None}
        return {"cell": found.cell, "line": None, **nothing, "steps": known} if known else None
    told = sentence(found, sources[found.cell])
    if own and found.cell not in own:
        begins = next((line.strip() for line in lines if line.strip()), "")[:LONGEST]
        told = say("{what}; this line is in another cell, which begins with `{begins}`", what=told, begins=begins)
    return {
        "cell": found.cell,
        "line": found.line,
        "text": lines[found.line - 1].strip()[:LONGEST],
        "sentence": told,
        "relation": relation_phrase(found),
        "value": picture(found),
        "steps": known,
    }
