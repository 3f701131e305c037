"""A puzzle and its verdict: as the JSON objects that students are shown, and as text for a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from autograder.exercises.contracts import full_id
from autograder.feedback.text import plain
from autograder.feedback.translate import say, title_of
from autograder.feedback.words import NOT_ISOLATED, SIGNS, STATES
from autograder.ordering.lines import indent
from autograder.ordering.make import Puzzle

TITLE = "Lines in order"
INTRO = "These lines make a right answer when they are in order and indented. {wrong}"
ONE_WRONG = "One of them belongs to a known mistake: leave it out."
SOME_WRONG = "{count} of them belong to known mistakes: leave those out."
GIVEN = "Given, above and below your lines:"
YOUR_LINES = "# your lines"
HOW = "Name the lines in their order; `:1` after a number indents its line by one step:"


def task(puzzle: Puzzle) -> dict[str, Any]:
    """What a student is shown of a puzzle. Nothing in it tells an order, or which lines are of mistakes."""
    return {
        "exercise": full_id(puzzle.exercise),
        "title": title_of(puzzle.exercise),
        "seed": puzzle.seed,
        "intro": intro(puzzle),
        "before": puzzle.before,
        "after": puzzle.after,
        "level": puzzle.level,
        "lines": [line.text for line in puzzle.lines],
    }


def intro(puzzle: Puzzle) -> str:
    """What to do, and how many lines belong to mistakes."""
    count = sum(bool(line.mistake) for line in puzzle.lines)
    return say(INTRO, wrong=say(ONE_WRONG) if count == 1 else say(SOME_WRONG, count=count))


def task_text(shown: Mapping[str, Any], call: str) -> str:
    """The puzzle with the numbers of its lines; `call`: how to hand in."""
    lines = [f"{say(TITLE)}: {shown['title']} ({shown['exercise']}, {say('seed')} {shown['seed']})", shown["intro"], ""]
    for number, text in enumerate(shown["lines"], 1):
        first, *others = text.split("\n")
        lines += [f"{number:3}  {first}", *(f"     {row}" for row in others)]
    around = [f"    {row}".rstrip() for row in given_code(shown).split("\n")]
    return plain("\n".join([*lines, "", say(GIVEN), "", *around, "", say(HOW), f"  {call}"]))


def given_code(shown: Mapping[str, Any]) -> str:
    """What is given of the answer, with a comment where the lines belong."""
    place = indent(say(YOUR_LINES), shown["level"])
    return "\n".join(part for part in (shown["before"], place, shown["after"]) if part)


def verdict_text(verdict: Mapping[str, Any]) -> str:
    """The verdict on an order, its sentences and the checks."""
    status = verdict["status"]
    lines = [f"{SIGNS[status]} {verdict['exercise']}, {say(TITLE)}: {say(STATES[status])}"]
    lines += [f"  {row}" for sentence in verdict["sentences"] for row in sentence.split("\n") if row]
    lines += [f"  {SIGNS[found]} {say(name)}" for name, found in verdict["checks"]]
    if verdict["sandbox"] == "subprocess":
        lines.append(f"  {say(NOT_ISOLATED)}")
    return plain("\n".join(lines))
