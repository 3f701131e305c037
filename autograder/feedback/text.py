"""A verdict as text: the card for a terminal, and one line for logs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import zip_longest
from textwrap import shorten
from typing import Any

from autograder.api import SEPARATOR, misconceptions_of
from autograder.feedback.html import as_dict
from autograder.feedback.matrix import WIDEST, Matrix, answers, entry_text, inputs_of, matrices, sentences
from autograder.feedback.translate import say
from autograder.feedback.words import (
    NOT_ISOLATED,
    SIGNS,
    chips,
    correct_so_far,
    edits_away,
    first_help,
    line_of,
    missing_points,
    number,
    places,
    points_of,
    question_of,
    read_again,
    reason,
    with_label,
)

# Control characters of terminals, characters that change the direction of the surrounding text, and halves of
# characters, which no encoding has
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


ORDER = "autograder order {exercise}"
MAX_REASON = 300  # characters of a reason in a line, of which some are what a student's code said


def plain(text: str) -> str:
    """`text` for a terminal: control characters except newlines and tabs, and broken ones, are escaped as `\\x1b`."""
    return CONTROL.sub(lambda found: ascii(found.group())[1:-1], text)


def count_text(number: int, what: str) -> str:
    """`1 answer`, `2 answers`: an English word that takes an s with any other number than one."""
    return f"{number} {what}{'s' * (number != 1)}"


def one_line(text: str) -> str:
    """`text`, such as a file's name, as one line: control characters, new lines and broken characters are escaped."""
    return plain(text).replace("\n", "\\n").replace("\t", "\\t")


def reasons(verdicts: Iterable[Mapping[str, Any]]) -> str:
    """Why exercises did not pass: each reason once, after the exercises that have it; alone if it holds for all."""
    verdicts = list(verdicts)
    by_reason: dict[str, list[str]] = {}
    for verdict in verdicts:
        if verdict["status"] != "passed":
            words = SEPARATOR.join(misconceptions_of(verdict)) or str(verdict["reason"]).strip().partition("\n")[0]
            by_reason.setdefault(one_line(words), []).append(str(verdict["exercise"]))
    if len(verdicts) > 1 and len(by_reason) == 1:
        ((why, names),) = by_reason.items()
        if why and len(names) == len(verdicts):
            return why
    return "  ".join(f"{', '.join(names)}: {why}" if why else ", ".join(names) for why, names in by_reason.items())


def verdict_line(verdict: object) -> str:
    """`✗ attention.attend 0/1 · divided_by_d`: sign, exercise, score, and why it did not pass."""
    data = as_dict(verdict)
    sign = SIGNS.get(data["status"], "?")
    why = "" if data["status"] == "passed" else SEPARATOR.join(misconceptions_of(data)) or data.get("reason") or ""
    first = shorten(str(why).strip().partition("\n")[0], MAX_REASON, placeholder=" …")
    score = f"{number(data['score'])}/{number(data['max_score'])}"
    return plain(" ".join([sign, data["exercise"], score]) + (f" · {first}" if first else ""))


def verdict_text(data: Mapping[str, Any]) -> str:
    """The card of a verdict's JSON object for a terminal, its parts in the same order."""
    left = ", ".join(check["name"] for check in data["checks"] if check["status"] == "not_run")
    status = f"{data['status']} (not run: {left})" if left else data["status"]
    score = "{score:g} of {max_score:g}".format(**data)
    away = f" · {edits_away(data)}" if edits_away(data) else ""
    lines = [f"{one_line(str(data['file']))}: {data['exercise']} {status}, {score}{away}"]
    right = correct_so_far(data) if data["status"] != "passed" else ""
    helped = (read_again(data), question_of(data), first_help(data, ORDER), line_of(data))
    details = "\n".join(text for text in (right, data["hint"], reason(data), *helped) if text)
    lines += [f"  {line}" for line in details.split("\n") if line]
    if line_of(data):
        lines.append(f"    {data['departure']['text']}")
    for chip in chips(data):
        score = points_of(chip)
        earned = f"  {score}" if score else ""
        lines.append(f"  {SIGNS[chip.status]} {chip.name}{earned}")
    for check in data["checks"]:
        if check["message"] and check["message"] != data["reason"]:
            lines.append(f"  {SIGNS[check['status']]} {with_label(say(check['name']), places(check['message']))}")
        lines += [f"    {row}" for row in check["map"]]
    if missing_points(data):
        lines.append(f"  {missing_points(data)}")
    if data.get("counterexample"):
        messages = [check["message"] for check in data["checks"]]
        lines += [f"  {line}" for line in _example(data["counterexample"], messages)]
    for one in data.get("remarks") or ():
        told = with_label(say("Line {line}", line=one["line"]), one["text"]) if one.get("line") else one["text"]
        lines.append(f"  {with_label(say('Remark, without points'), told)}")
    if data["sandbox"] == "subprocess" or "not" in data["sandbox"]:
        lines.append(f"  {say(NOT_ISOLATED)}")
    return plain("\n".join(lines))


def _example(given: Mapping[str, Any], messages: list[str]) -> Iterator[str]:
    inputs = inputs_of(given)
    named = ", ".join(
        str(name) if matrices("", value) else f"{name}={entry_text(value)[:100]}" for name, value in inputs.items()
    )
    yield with_label(say("The smallest example found"), f"{given.get('call')}({named})")
    drawn = [one for name, value in inputs.items() for one in matrices(str(name), value)[:2]]
    yield from side_by_side([matrix_lines(matrix) for matrix in [*drawn, *answers(given)][:6]])
    yield from sentences(given, messages)


def matrix_lines(matrix: Matrix) -> list[str]:
    """A matrix as lines of equal width; wrong entries are marked."""
    wrong = matrix.wrong or [[False] * len(row) for row in matrix.rows]
    entries = [
        [("✗" if bad else "") + entry_text(x) for x, bad in zip(row[:WIDEST], marks[:WIDEST], strict=True)]
        for row, marks in zip(matrix.rows[:WIDEST], wrong[:WIDEST], strict=True)
    ]
    width = max(len(entry) for row in entries for entry in row)
    lines = [matrix.name, *("[" + " ".join(entry.rjust(width) for entry in row) + "]" for row in entries)]
    return [line.ljust(max(map(len, lines))) for line in lines]


def side_by_side(blocks: list[list[str]]) -> Iterator[str]:
    """Matrices as `matrix_lines` gives them, next to one another."""
    for row in zip_longest(*blocks):
        parts = (part if part is not None else " " * len(block[0]) for part, block in zip(row, blocks, strict=True))
        yield "  " + "    ".join(parts).rstrip()
