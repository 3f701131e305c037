"""A hunt and its verdict as text for a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from autograder.feedback.code import numbered_lines
from autograder.feedback.text import matrix_lines, plain, side_by_side
from autograder.feedback.translate import say
from autograder.feedback.words import NOT_ISOLATED, SIGNS, STATES, number
from autograder.hunts.words import DO, SEEN_IN, SYMPTOM, call_of, heading_of, intro, missed_of, tables_of, values_of


def task_text(task: Mapping[str, Any]) -> str:
    """The code with the numbers of its lines, and the symptom."""
    lines = [f"{task['title']} ({task['exercise']}, {say('seed')} {task['seed']})", f"{intro(task)} {say(DO)}", ""]
    return plain("\n".join([*lines, *numbered_lines(task["code"]), "", *_symptom(task["symptom"])]))


def _symptom(seen: Mapping[str, Any]) -> list[str]:
    call = f": {call_of(seen)}" if call_of(seen) else ""
    lines = [f"{say(SYMPTOM)} ({say(SEEN_IN, what=say(seen['seen_in']))}){call}"]
    lines += side_by_side([matrix_lines(matrix) for matrix in tables_of(seen)])
    lines += [f"  {line}" for line in (*values_of(seen), *seen["words"], *seen["notes"])]
    return lines + [f"    {row}" for row in seen["map"]]


def verdict_text(verdict: Mapping[str, Any]) -> str:
    """The points and sentences of each part."""
    score = say("{score} of {most}", score=number(verdict["score"]), most=number(verdict["max_score"]))
    lines = [
        f"{SIGNS[verdict['status']]} {verdict['exercise']}: {say(STATES[verdict['status']])}, {score} {say('points')}"
    ]
    for part in verdict["parts"]:
        lines.append(f"  {SIGNS[part['status']]} {heading_of(part)}")
        lines += [f"    {line}" for line in (*part["sentences"], missed_of(part)) if line]
    if verdict["sandbox"] == "subprocess":
        lines.append(f"  {say(NOT_ISOLATED)}")
    return plain("\n".join(lines))
