"""A hunt and its verdict as cards of HTML, in the style of a verdict's card; all text is escaped."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

from autograder.feedback.html import style
from autograder.feedback.matrix import flow, mark_code, render_matrix
from autograder.feedback.translate import say
from autograder.feedback.words import NO_SANDBOX, SIGNS, STATES, number
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
    head = (
        f'<div class="tfkit-v-head"><span class="tfkit-v-badge">{say(TITLE)}</span> '
        f'<strong class="tfkit-v-title">{escape(task["title"])}</strong> <code>{escape(task["exercise"])}</code>'
        f'<span class="tfkit-v-points"><small>{say("seed")} {int(task["seed"])}</small></span></div>'
    )
    asked = f'<p class="tfkit-v-hint">{escape(intro(task))}</p><p>{escape(say(DO))}</p>'
    columns = f'<div class="tfkit-h-columns">{_symptom(task["symptom"])}{_code(task["code"])}</div>'
    hand_in = f"<p>{escape(say(HAND_IN))}</p><pre><code>{escape(call)}</code></pre>" if call else ""
    return f'{style()}<div class="tfkit-verdict tfkit-is-hunt">{head}{asked}{columns}{hand_in}</div>'


def _code(code: str) -> str:
    rows = "".join(
        f'<span class="tfkit-h-line"><span class="tfkit-h-number">{index}</span>{escape(line) or " "}\n</span>'
        for index, line in enumerate(code.splitlines(), 1)
    )
    return f'<section><b>{say(CODE)}</b><pre class="tfkit-h-code" tabindex="0"><code>{rows}</code></pre></section>'


def _symptom(seen: Mapping[str, Any]) -> str:
    what = f"<small>{escape(say(SEEN_IN, what=say(seen['seen_in'])))}</small>"
    call = f"<p><code>{escape(call_of(seen))}</code></p>" if call_of(seen) else ""
    tables = "".join(map(render_matrix, tables_of(seen)))
    values = "".join(f"<p>{escape(line)}</p>" for line in (*values_of(seen), *seen["words"], *seen["notes"]))
    drawn = flow(seen["map"], WHOSE)
    return (
        f'<section><b>{say(SYMPTOM)}</b> {what}{call}<div class="tfkit-v-row">{tables}</div>{values}{drawn}</section>'
    )


def verdict_html(verdict: Mapping[str, Any]) -> str:
    """The card of a hunt's verdict: a paragraph for each part."""
    score = say("{score} of {most}", score=number(verdict["score"]), most=number(verdict["max_score"]))
    head = (
        f'<div class="tfkit-v-head"><span class="tfkit-v-badge">{SIGNS[verdict["status"]]} '
        f"{escape(say(STATES[verdict['status']]))}</span> {say(TITLE)} <code>{escape(verdict['exercise'])}</code>"
        f'<span class="tfkit-v-points"><b>{score}</b> {say("points")}</span></div>'
    )
    parts = "".join(map(_part, verdict["parts"]))
    if verdict["sandbox"] == "subprocess":
        parts += f"<p>{escape(say(NO_SANDBOX))}</p>"
    return f'{style()}<div class="tfkit-verdict tfkit-is-{verdict["status"]}">{head}{parts}</div>'


def _part(part: Mapping[str, Any]) -> str:
    words = "".join(f"<p>{mark_code(escape(one))}</p>" for one in part["sentences"])
    missed = missed_of(part)
    more = f"<details><summary>{escape(say(WHICH))}</summary><p>{escape(missed)}</p></details>" if missed else ""
    sign = SIGNS[part["status"]]
    head = f"<b>{sign} {escape(heading_of(part))}</b>"
    return f'<div class="tfkit-h-part tfkit-is-{part["status"]}">{head}{words}{more}</div>'
