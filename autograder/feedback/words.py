"""The texts of a verdict that its card and the terminal share."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from autograder.feedback.messages import translate_message
from autograder.feedback.translate import say

SIGNS = {"passed": "✓", "failed": "✗", "not_graded": "?", "not_run": "–", "unwritten": "○"}
STATES = {"passed": "passed", "failed": "not yet right", "not_graded": "not graded", "not_run": "not run",
          "unwritten": "to be written"}  # fmt: skip
NAMES = {"shapes": "shapes and types"}  # of properties; the others are called as they are
PLACE = re.compile(r"\bat \[(\d+(?:, \d+)*)\]")
AXES = {1: ("entry",), 2: ("row", "column"), 3: ("matrix", "row", "column"), 4: ("batch", "head", "row", "column")}
AWAY = {1: "one change away", 2: "two changes away", 3: "three changes away"}
NOT_ISOLATED = "NOT ISOLATED: the code ran with your own rights"
NO_SANDBOX = "NOT ISOLATED: no sandbox works here, so the code ran with your own rights."
FIRST_HELP = "Stuck? Put the lines of a right answer in order first: `{call}`"
UNEARNED = "The other checks earn their points once ordinary values are right."


@dataclass(frozen=True)
class Chip:
    """A property, or a check without one: its outcome, and its points."""

    name: str
    status: str
    points: float
    of: float


def number(x: float) -> str:
    """A score without a needless `.0`."""
    return f"{float(x):.2f}".rstrip("0").rstrip(".")


def is_unwritten(data: Mapping[str, Any]) -> bool:
    """Whether the answer is still the released stub."""
    return data["status"] == "failed" and [check["name"] for check in data.get("checks") or ()] == ["written"]


def chips(data: Mapping[str, Any]) -> list[Chip]:
    """The checks of a verdict by property, in the order in which they were made."""
    groups: dict[str, list[Mapping[str, Any]]] = {}
    for check in data.get("checks") or ():
        kind = check.get("property")
        name = say(NAMES.get(kind, kind)) if kind else say(str(check["name"])).replace("_", " ")
        groups.setdefault(name, []).append(check)
    return [Chip(name, _outcome(of), _sum(of, "points"), _sum(of, "of")) for name, of in groups.items()]


def _outcome(checks: Sequence[Mapping[str, Any]]) -> str:
    found = {check["status"] for check in checks}
    return next((status for status in ("failed", "passed") if status in found), "not_run")


def _sum(checks: Sequence[Mapping[str, Any]], key: str) -> float:
    return sum(float(check.get(key) or 0.0) for check in checks)


def correct_so_far(data: Mapping[str, Any]) -> str:
    """`Right so far: values, gradients.`; "" if nothing is right."""
    names = [chip.name for chip in chips(data) if chip.status == "passed"]
    return say("Right so far: {names}.", names=", ".join(names)) if names else ""


def missing_points(data: Mapping[str, Any]) -> str:
    """The points not yet earned, by property; "" if there are none."""
    left = float(data["max_score"]) - float(data["score"])
    if data["status"] != "failed" or number(left) == "0":
        return ""
    unearned = [chip for chip in chips(data) if number(chip.of - chip.points) != "0"]
    each = ", ".join(f"{chip.name} {number(chip.of - chip.points)}" for chip in unearned)
    sentence = say("Not yet earned: {left} of {most}", left=number(left), most=number(data["max_score"]))
    sentence += f" ({each})." if each else "."
    return f"{sentence} {say(UNEARNED)}" if any(chip.status == "passed" for chip in unearned) else sentence


def points_of(chip: Chip) -> str:
    """`0.5 of 1`; "" where there is nothing to earn, and for a check that passed but does not count yet."""
    if not chip.of or (chip.status == "passed" and number(chip.points) == "0"):
        return ""
    return say("{score} of {most}", score=number(chip.points), most=number(chip.of))


def edits_away(data: Mapping[str, Any]) -> str:
    """`one change away`; "" if that is not known or makes no points."""
    words = AWAY.get(data.get("distance") or 0, "")
    return say(words) if words and data["status"] == "failed" and data["score"] else ""


def first_help(data: Mapping[str, Any], call: str) -> str:
    """Where there are lines of a right answer to put in order, a sentence with the call that shows them; else ""."""
    if not data.get("ordering") or data["status"] != "failed":
        return ""
    return say(FIRST_HELP, call=call.format(exercise=data["exercise"]))


def question_of(data: Mapping[str, Any]) -> str:
    """`First ask yourself. For …: which shape must `scores` have?`; "" without a question."""
    asked = data.get("question")
    return f"{say('First ask yourself.')} {asked['text']}" if asked and data["status"] == "failed" else ""


def read_again(data: Mapping[str, Any]) -> str:
    """`Read again: 02-masks, “1 · The causal mask”`, for what is not right yet; "" without a lesson."""
    section = data.get("section")
    if not section or data["status"] != "failed":
        return ""
    unit, heading = section
    return say("Read again: {unit}, “{section}”", unit=unit, section=heading)


def with_label(label: str, text: str) -> str:
    """`Line 10: …`, with the space that some languages have before a colon."""
    return say("{label}: {told}", label=label, told=text)


def size(shape: Sequence[int] | None) -> str:
    """`2 × 3 × 4`; "one number" for no axes, "" without a shape."""
    return "" if shape is None else " × ".join(map(str, shape)) or say("one number")


def line_of(data: Mapping[str, Any]) -> str:
    """`Line 10: scores is 2 times what it should be.`; "" without a line."""
    found = data.get("departure")
    if not found or found["line"] is None:
        return ""
    return with_label(say("Line {line}", line=found["line"]), f"{found['sentence']}.")


def place(where: Sequence[int]) -> str:
    """`[0, 2]` -> `row 0, column 2`, counted from 0 as in the code."""
    return _place(where, say)


def _place(where: Sequence[int], word: Callable[[str], str]) -> str:
    names = AXES.get(len(where)) or tuple(f"axis {axis}" for axis in range(len(where)))
    return ", ".join(f"{word(name)} {index}" for name, index in zip(names, where, strict=True))


def places(message: str) -> str:
    """A check's message with its places in words; that of a standard check in the reader's language."""
    if translated := translate_message(message, lambda where: place(_indices(where))):
        return translated
    return PLACE.sub(lambda found: f"at {_place(_indices(found.group(1)), str)}", message)


def reason(data: Mapping[str, Any]) -> str:
    """Why an answer was not graded, or what stopped it: a message of the grader's in the reader's language."""
    said = str(data.get("reason") or "")
    return translate_message(said, lambda where: place(_indices(where))) or said


def _indices(text: str) -> list[int]:
    return [int(index) for index in text.split(",")]


def sentence(text: str) -> str:
    """The text with a capital letter and a full stop."""
    text = text.strip()
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "?", ")")) else ".")
