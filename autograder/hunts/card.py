"""A hunt and its verdict as cards of HTML, in the style of a verdict's card; all text is escaped."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

from autograder.feedback.code import numbered_html
from autograder.feedback.html import card_html, title_html
from autograder.feedback.matrix import flow, mark_code, render_matrix
from autograder.feedback.translate import say
from autograder.feedback.words import NO_SANDBOX, SIGNS, STATES, number
from autograder.hunts.picture import BARS, CURVES, bars_svg, curves_svg
from autograder.hunts.words import (
    DO,
    SEEN_IN,
    SYMPTOM,
    TITLE,
    WHICH,
    WHOSE,
    call_of,
    heading_of,
    intro,
    missed_of,
    tables_of,
    values_of,
)

HAND_IN = "When you are done, hand in what you have; what you leave out earns nothing."
CODE = "The code"


def task_html(task: Mapping[str, Any], call: str = "") -> str:
    """The card of a hunt. call: how to hand in, as code."""
    seed = f"<small>{say('seed')} {int(task['seed'])}</small>"
    asked = f'<p class="tfkit-v-hint">{escape(intro(task))}</p><p>{escape(say(DO))}</p>'
    code = f"<section><b>{say(CODE)}</b>{numbered_html(task['code'])}</section>"
    columns = f'<div class="tfkit-h-columns">{_symptom(task["symptom"])}{code}</div>'
    hand_in = f"<p>{escape(say(HAND_IN))}</p><pre><code>{escape(call)}</code></pre>" if call else ""
    body = f"{asked}{columns}{hand_in}"
    return card_html("hunt", say(TITLE), title_html(task["title"]), task["exercise"], body, seed)


def _symptom(seen: Mapping[str, Any]) -> str:
    what = f"<small>{escape(say(SEEN_IN, what=say(seen['seen_in'])))}</small>"
    call = f"<p><code>{escape(call_of(seen))}</code></p>" if call_of(seen) else ""
    tables = "".join(map(render_matrix, tables_of(seen)))
    values = "".join(f"<p>{mark_code(escape(line))}</p>" for line in (*values_of(seen), *seen["words"], *seen["notes"]))
    drawn = flow(seen["map"], WHOSE) + _pictures(seen)
    return (
        f'<section><b>{say(SYMPTOM)}</b> {what}{call}<div class="tfkit-v-row">{tables}</div>{values}{drawn}</section>'
    )


def _pictures(seen: Mapping[str, Any]) -> str:
    found = []
    if seen.get("bars"):
        found.append(f"<p><small>{escape(say(BARS))}</small></p>{bars_svg(seen['bars'])}")
    if seen.get("curves"):
        found.append(f"<p><small>{escape(say(CURVES))}</small></p>{curves_svg(seen['curves'])}")
    return "".join(found)


def verdict_html(verdict: Mapping[str, Any]) -> str:
    """The card of a hunt's verdict: a paragraph for each part."""
    score = say("{score} of {most}", score=number(verdict["score"]), most=number(verdict["max_score"]))
    status, points = verdict["status"], f"<b>{score}</b> {say('points')}"
    parts = "".join(map(_part, verdict["parts"]))
    if verdict["sandbox"] == "subprocess":
        parts += f"<p>{escape(say(NO_SANDBOX))}</p>"
    badge = f"{SIGNS[status]} {say(STATES[status])}"
    return card_html(status, badge, say(TITLE), verdict["exercise"], parts, points)


def _part(part: Mapping[str, Any]) -> str:
    words = "".join(f"<p>{mark_code(escape(one))}</p>" for one in part["sentences"])
    missed = missed_of(part)
    more = f"<details><summary>{escape(say(WHICH))}</summary><p>{escape(missed)}</p></details>" if missed else ""
    sign = SIGNS[part["status"]]
    head = f"<b>{sign} {escape(heading_of(part))}</b>"
    return f'<div class="tfkit-h-part tfkit-is-{part["status"]}">{head}{words}{more}</div>'
