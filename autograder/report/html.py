"""A verdict as one card of HTML: in the notebook, under the Check button, and on the feedback page.

No script, and nothing is fetched. The style sheet is `card.css`: it comes with the card, and the lab extension has it
too, because JupyterLab drops style elements of a notebook that is not trusted. Where both are dropped, lists and tables
stay. Every sign is a character; colours only repeat what the characters say.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

from autograder.api import HINTS, with_hints
from autograder.report.matrix import example, flow
from autograder.report.words import SIGNS, STATES, chips, number, places, still_to_be_had, what_is_right

LONGEST = 2000  # characters of any one text; a student's exception may carry a whole tensor


def as_dict(verdict: object) -> dict[str, Any]:
    """The verdict as the object of `autograder check --json`; a mapping passes through."""
    if isinstance(verdict, Mapping):
        return dict(verdict)
    return verdict.as_json()  # type: ignore[attr-defined]


@cache
def _style() -> str:
    lines = (Path(__file__).parent / "card.css").read_text(encoding="utf-8").splitlines()
    return f"<style>{' '.join(line.strip() for line in lines)}</style>"


def verdict_html(verdict: object, hints: int = HINTS, styled: bool = True) -> str:
    """The card for a Verdict or its JSON object, with so many steps of help (`api.hinted`).

    All is escaped; a verdict holds no hidden values. `styled`: with the style sheet, for pages that do not have it.
    """
    data = with_hints(as_dict(verdict), hints)
    state = data["status"] if data["status"] in STATES else "not_graded"
    body = "".join([_head(data), _right(data), _lesson(data), _chips(data), _seen(data), _example(data), _foot(data)])
    return f'{_style() if styled else ""}<div class="tfkit-verdict tfkit-is-{state}">{body}</div>'


def _head(data: Mapping[str, Any]) -> str:
    points = "point" if number(data["max_score"]) == "1" else "points"
    badge = f"{SIGNS.get(data['status'], '?')} {escape(STATES.get(data['status'], str(data['status'])))}"
    score = f"<b>{number(data['score'])} of {number(data['max_score'])}</b> {points}"
    return (
        f'<div class="tfkit-v-head"><span class="tfkit-v-badge">{badge}</span> '
        f'<code>{_text(data["exercise"])}</code> <span class="tfkit-v-points">{score}</span></div>'
    )


def _right(data: Mapping[str, Any]) -> str:
    said = what_is_right(data) if data["status"] != "passed" else ""
    return f'<p class="tfkit-v-right">✓ {_text(said)}</p>' if said else ""


def _lesson(data: Mapping[str, Any]) -> str:
    """What was misunderstood, in words; and what stopped the code."""
    named = data.get("hint") or (data.get("misconception") or "").replace("_", " ")
    first, _, more = named.strip().partition("\n\n")  # the mistake; then what is to be known about it
    blocks = [f'<p class="tfkit-v-hint">{_text(first)}</p>'] if first else []
    blocks += [f"<p>{_text(more)}</p>"] if more else []
    if data.get("reason"):
        blocks.append(f"<p>{_text(data['reason'])}</p>")
    if data["status"] == "not_graded":
        blocks.append("<p>This is not your mistake. An instructor will grade it by hand.</p>")
    return "".join(blocks)


def _chips(data: Mapping[str, Any]) -> str:
    """A property each, with what it earned; then what is still to be had."""
    items = []
    for chip in chips(data):
        earned = f" <small>{number(chip.points)} of {number(chip.of)}</small>" if chip.of else ""
        word = " <small>not run</small>" if chip.status == "not_run" else ""
        items.append(f'<li class="tfkit-is-{chip.status}">{SIGNS[chip.status]} {_text(chip.name)}{earned}{word}</li>')
    left = still_to_be_had(data)
    row = f'<ul class="tfkit-v-chips">{"".join(items)}</ul>' if items else ""
    return row + (f'<p class="tfkit-v-left">{_text(left)}</p>' if left else "")


def _seen(data: Mapping[str, Any]) -> str:
    """What each check saw, where there is more to say than a sign."""
    items = []
    for check in data.get("checks") or ():
        message, rows = check.get("message") or "", check.get("map") or ()
        if (message and message != data.get("reason")) or rows:
            sign = SIGNS.get(check["status"], "?")
            name = _text(str(check["name"]).replace("_", " "))
            items.append(f"<li>{sign} <b>{name}</b>: {_text(places(message))}{flow(rows)}</li>")
    if not items:
        return ""
    drawn = any(check.get("map") for check in data["checks"])
    closed = data["status"] == "passed" or (data.get("misconception") and not drawn)  # named above, in a sentence
    head = f"<details{'' if closed else ' open'}><summary>What each check saw</summary>"
    return f'{head}<ul class="tfkit-v-seen">{"".join(items)}</ul></details>'


def _example(data: Mapping[str, Any]) -> str:
    given = data.get("counterexample")
    return example(given) if given else ""


def _foot(data: Mapping[str, Any]) -> str:
    told = {"sandbox": data.get("sandbox"), "device": data.get("device"), "seed": data.get("seed")}
    words = " · ".join(f"{name} {_text(value)}" for name, value in told.items() if value not in (None, ""))
    return f'<div class="tfkit-v-foot"><small>{words}</small></div>'


def _text(value: Any) -> str:
    text = str(value)
    if len(text) > LONGEST:
        text = text[:LONGEST] + " …"
    return escape(text).replace("\n", "<br>")
