"""A verdict as one card of HTML: in the notebook, under the Check button, and on the feedback page.

It has no scripts and fetches nothing. The style sheet `card.css` comes with the card, and also with the lab extension,
because JupyterLab drops style elements of an untrusted notebook. Without it, the card is still readable as lists and
tables. Every symbol is a character; colours only repeat what the characters say.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import quote

from autograder.api import BESIDES, HINTS, SEPARATOR, misconceptions_of, with_hints
from autograder.feedback.matrix import corner, entries_that_hold, example, flow, mark_code, matrices, render_matrix
from autograder.feedback.translate import say
from autograder.feedback.words import (
    SIGNS,
    STATES,
    chips,
    correct_so_far,
    edits_away,
    first_help,
    is_unwritten,
    missing_points,
    number,
    places,
    points_of,
    read_again,
    reason,
    sentence,
    size,
    with_label,
)

CELL = re.compile(r"[A-Za-z0-9_-]{1,64}")
STEP_COLUMNS = ("", "line", "your code", "your shape", "a right one’s")
ORDER = 'from autograder import order; order("{exercise}")'
LONGEST = 2000  # characters of one text; a student's exception may contain a whole tensor


def as_dict(verdict: object) -> dict[str, Any]:
    """The verdict as the object of `autograder check --json`; a mapping is returned as it is."""
    if isinstance(verdict, Mapping):
        return dict(verdict)
    return verdict.as_json()  # type: ignore[attr-defined]


@cache
def style() -> str:
    """The style sheet of cards, as an element."""
    lines = (Path(__file__).parent / "card.css").read_text(encoding="utf-8").splitlines()
    return f"<style>{' '.join(line.strip() for line in lines)}</style>"


def title_html(title: str) -> str:
    """The title of an exercise in the head of a card."""
    return f'<strong class="tfkit-v-title">{escape(title)}</strong>'


def card_html(state: str, badge: str, name: str, exercise: str, body: str, points: str = "") -> str:
    """A card with its style: the badge, a name, the exercise's id and the points in its head, and the body below.

    name, body, points: HTML; the other texts are escaped.
    """
    right = f'<span class="tfkit-v-points">{points}</span>' if points else ""
    head = f'<span class="tfkit-v-badge">{escape(badge)}</span> {name} <code>{escape(exercise)}</code>{right}'
    return f'{style()}<div class="tfkit-verdict tfkit-is-{state}"><div class="tfkit-v-head">{head}</div>{body}</div>'


def verdict_html(verdict: object, hints: int = HINTS, styled: bool = True) -> str:
    """The card for a Verdict or its JSON object, with the first `hints` steps of help (`api.with_hints`).

    All text is escaped; a verdict contains no hidden values. `styled`: includes the style sheet, for pages without it.
    """
    data = with_hints(as_dict(verdict), hints)
    state = data["status"] if data["status"] in STATES else "not_graded"
    parts = [_head, _right, _lesson, _help, _line, _chips, _seen, _example, _walk, _steps, _remarks, _foot]
    if is_unwritten(data):
        state, parts = "unwritten", [_head, _to_begin, _help]
    body = "".join(part(data) for part in parts)
    return f'{style() if styled else ""}<div class="tfkit-verdict tfkit-is-{state}">{body}</div>'


def _head(data: Mapping[str, Any]) -> str:
    points = say("point") if number(data["max_score"]) == "1" else say("points")
    status = "unwritten" if is_unwritten(data) else str(data["status"])
    badge = f"{SIGNS.get(status, '?')} {escape(say(STATES.get(status, status)))}"
    score = f"<b>{say('{score} of {most}', score=number(data['score']), most=number(data['max_score']))}</b> {points}"
    return (
        f'<div class="tfkit-v-head"><span class="tfkit-v-badge">{badge}</span> '
        f'{_name(data)} <span class="tfkit-v-points">{score}{_away(data)}</span></div>'
    )


def _away(data: Mapping[str, Any]) -> str:
    """How few known edits lead to a right answer, beside the points that it explains."""
    words = edits_away(data)
    return f" · {escape(words)}" if words else ""


def _name(data: Mapping[str, Any]) -> str:
    """The exercise's title, and its id beside it; the id alone if nobody knows the title."""
    name = f"<code>{_text(data['exercise'])}</code>"
    title = data.get("title")
    return f'<strong class="tfkit-v-title">{_text(title)}</strong> {name}' if title else name


def _to_begin(data: Mapping[str, Any]) -> str:
    """The instruction for a cell that still has the released stub."""
    start = say("There is no answer here yet.")
    how = say("Replace `raise NotImplementedError` with your code, then check again.")
    return f'<p class="tfkit-v-hint">{start}</p><p>{_code(how)}</p>'


def _right(data: Mapping[str, Any]) -> str:
    summary = correct_so_far(data) if data["status"] != "passed" else ""
    return f'<p class="tfkit-v-right">✓ {_text(summary)}</p>' if summary else ""


def _lesson(data: Mapping[str, Any]) -> str:
    """The misconception in words, and what stopped the code."""
    named = data.get("hint") or SEPARATOR.join(misconceptions_of(data)).replace("_", " ")
    besides = "|".join(map(re.escape, (BESIDES, say(BESIDES))))
    mistakes = [one for one in re.split(rf"\n\n(?:{besides}) ", named.strip()) if one]
    blocks = [_mistake(one, place, len(mistakes)) for place, one in enumerate(mistakes, 1)]
    if data.get("reason") and data["status"] != "passed":
        kind = ' class="tfkit-v-hint"' if data["status"] == "failed" and not mistakes else ""
        blocks.append(f"<p{kind}>{_code(sentence(reason(data)))}</p>")
    if data["status"] == "not_graded":
        blocks.append(f"<p>{say('This is not your mistake. An instructor will grade it by hand.')}</p>")
    return "".join(blocks)


def _mistake(text: str, place: int, count: int) -> str:
    """The sentence that names a mistake, with its number where there are several, and the explanation."""
    first, _, more = text.partition("\n\n")
    nth = f'<span class="tfkit-v-nth">{place}</span> ' if count > 1 else ""
    besides = f"<small>{escape(say(BESIDES))}</small> " if place > 1 else ""
    return f'<p class="tfkit-v-hint">{nth}{besides}{_code(first)}</p>' + (f"<p>{_code(more)}</p>" if more else "")


def _section(data: Mapping[str, Any]) -> str:
    """Where it is taught: a link to the heading, as JupyterLab and nbconvert name it in a notebook."""
    words = read_again(data)
    if not words:
        return ""
    anchor = escape(quote(data["section"][1].replace("`", "").replace(" ", "-")))
    return f'<p class="tfkit-v-section"><a href="#{anchor}">{_code(words)}</a></p>'


def _help(data: Mapping[str, Any]) -> str:
    """Where to read, and the first help: a question, and the lines of a right answer, to be put in order."""
    words = first_help(data, ORDER)
    return _section(data) + _question(data) + (f"<p>{_code(words)}</p>" if words else "")


def _question(data: Mapping[str, Any]) -> str:
    """A question, with its answer in the fold."""
    asked = data.get("question")
    if not asked or data["status"] != "failed":
        return ""
    yours = say("Your code gives {value}.", value=_numbers("yours", asked["yours"]))
    right = say("A right answer has {value}.", value=_numbers("right", asked["right"])) if asked.get("right") else ""
    first = f"<small>{say('First ask yourself.')}</small>"
    summary = f"<summary>{first} {_code(asked['text'])}</summary>"
    return f'<details class="tfkit-v-ask">{summary}<p>{yours} {right}</p></details>'


def _numbers(whose: str, values: Sequence[float]) -> str:
    return f'<b class="tfkit-v-{whose}">{" × ".join(f"{one:g}" for one in values)}</b>'


def _line(data: Mapping[str, Any]) -> str:
    """The first wrong line, what is wrong there, and its value. Its classes tell the lab which line to mark."""
    found = data.get("departure")
    if not found or found["line"] is None:
        return ""
    cell = f" tfkit-in-{found['cell']}" if CELL.fullmatch(str(found.get("cell"))) else ""
    where = with_label(f"<b>{say('Line {line}', line=int(found['line']))}</b>", f"{_code(found['sentence'])}.")
    shown = f"<p>{where}</p>{_source(found)}{_drawn(found.get('value'))}"
    return f'<div class="tfkit-v-line tfkit-line-{int(found["line"])}{cell}">{shown}</div>'


def _source(found: Mapping[str, Any]) -> str:
    return f"<pre><code>{_text(found['text'])}</code></pre>" if found.get("text") else ""


def _drawn(value: Mapping[str, Any] | None, beside: bool = False) -> str:
    """A student's value as a matrix, with the number of its rows and columns if it is one part of a tensor. `beside`:
    what must hold stands beside it."""
    given = value or {}
    tables = matrices(given.get("name", ""), given.get("value"), given.get("wrong"))
    if not tables:
        return ""
    shown = [*tables, *(entries_that_hold(given["value"], given.get("wrong")) if beside else [])]
    part = f"<small>{_text(corner(given))}</small>" if corner(given) else ""
    return f'<div class="tfkit-v-row">{"".join(map(render_matrix, shown))}</div>{part}'


def _walk(data: Mapping[str, Any]) -> str:
    """The student's own values, line by line of one cell, up to the line where they part from right answers'. The lab
    shows one stop at a time."""
    found = data.get("departure") or {}
    here = [step for step in found.get("steps") or () if step.get("cell") == found["cell"]]
    before = [step for step in here if step.get("value") and step["line"] != found["line"]]
    if found.get("line") is None or not before:
        return ""
    stops = [*map(_stop, before), _departing(found)]
    title = say("The way to your mistake: your values, line by line, up to where they part from right answers’")
    return f'<details class="tfkit-v-walk"><summary>{title}</summary><ol>{"".join(stops)}</ol></details>'


def _stop(step: Mapping[str, Any]) -> str:
    if step["known"]:
        sign, words = "✓", say("A right answer has this value, too.")
    else:
        sign, words = "·", say("No right answer that we know has this value, which need not be wrong.")
    where = f"<b>{say('Line {line}', line=int(step['line']))}</b>"
    first = f" {say('This line ran more than once; here is its first value.')}" if step.get("again") else ""
    shown = f"<p>{sign} {with_label(where, _text(words + first))}</p>{_source(step)}{_drawn(step['value'])}"
    return f'<li class="tfkit-v-stop">{shown}</li>'


def _departing(found: Mapping[str, Any]) -> str:
    """The last stop: the line that departs, with its wrong entries beside what must hold."""
    own: Mapping[str, Any] = next((step for step in found["steps"] if _departs(step, found)), {})
    where = say("Line {line}", line=int(found["line"]))
    wanted = own.get("right")
    differs = wanted and wanted != own.get("yours")
    shape = say("A right answer has shape {shape}.", shape=size(wanted)) if differs else ""
    words = f"<p>✗ {with_label(f'<b>{where}</b>', _code(found['sentence']))}. {_text(shape)}</p>"
    drawn = _drawn(found.get("value") or own.get("value"), beside=True)
    return f'<li class="tfkit-v-stop tfkit-v-departing">{words}{_source(found)}{drawn}</li>'


def _steps(data: Mapping[str, Any]) -> str:
    """The lines in the order in which they ran, with the shapes of a right answer's values beside the student's."""
    found = data.get("departure") or {}
    shown = [step for step in found.get("steps") or () if step["line"] is not None or size(step["right"])]
    rows = [_step(step, found) for step in shown]
    if not rows:
        return ""
    # no heading over the signs: an empty <th> would be announced as one
    head = "".join(f'<th scope="col">{say(name)}</th>' if name else "<td></td>" for name in STEP_COLUMNS)
    table = f'<table class="tfkit-v-steps"><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table>'
    title = say("Step by step: your lines beside a right answer’s shapes")
    scrolled = f'<div class="tfkit-v-box" tabindex="0">{table}</div>'
    return f'<details class="tfkit-v-trace"><summary>{title}</summary>{scrolled}</details>'


def _departs(step: Mapping[str, Any], found: Mapping[str, Any]) -> bool:
    return step["line"] is not None and (step.get("cell"), step["line"]) == (found["cell"], found["line"])


def _step(step: Mapping[str, Any], found: Mapping[str, Any]) -> str:
    own = step["line"] is not None
    state = "" if not own else "✗" if _departs(step, found) else "✓" if step["known"] else "·"
    line = step["line"] if step.get("cell") == found["cell"] else say("another cell")
    cells = (
        line if own else "",
        f"<code>{_text(step['text'])}</code>",
        size(step["yours"]),
        size(step["right"]),
    )
    here = ' class="tfkit-v-here"' if state == "✗" else ""
    return f"<tr{here}><td>{state}</td>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"


def _code(text: str) -> str:
    """The text as HTML, with the parts between backticks as code."""
    return mark_code(_text(text))


def _chips(data: Mapping[str, Any]) -> str:
    """One chip for each property with its points, then the missing points."""
    items = []
    passed = data["status"] == "passed"  # what was not run here is then told below the fold
    for chip in (one for one in chips(data) if not (passed and one.status == "not_run")):
        score = points_of(chip)
        earned = f" <small>{score}</small>" if score else ""
        word = f" <small>{say('not run')}</small>" if chip.status == "not_run" else ""
        items.append(f'<li class="tfkit-is-{chip.status}">{SIGNS[chip.status]} {_text(chip.name)}{earned}{word}</li>')
    left = missing_points(data)
    row = f'<ul class="tfkit-v-chips">{"".join(items)}</ul>' if items else ""
    return row + (f'<p class="tfkit-v-left">{_text(left)}</p>' if left else "")


def _seen(data: Mapping[str, Any]) -> str:
    """The message of each check, where there is more than a symbol to show."""
    items = []
    for check in data.get("checks") or ():
        message, rows = check.get("message") or "", check.get("map") or ()
        if (message and message != data.get("reason")) or rows:
            sign = SIGNS.get(check["status"], "?")
            name = _text(say(str(check["name"])).replace("_", " "))
            items.append(f"<li>{sign} {with_label(f'<b>{name}</b>', _code(places(message)))}{flow(rows)}</li>")
    if not items:
        return ""
    drawn = any(check.get("map") for check in data["checks"])
    closed = data["status"] == "passed" or (data.get("misconception") and not drawn)  # already named above
    head = f"<details{'' if closed else ' open'}><summary>{say('What each check found')}</summary>"
    return f'{head}<ul class="tfkit-v-seen">{"".join(items)}</ul></details>'


def _example(data: Mapping[str, Any]) -> str:
    given = data.get("counterexample")
    return example(given) if given else ""


def _remarks(data: Mapping[str, Any]) -> str:
    """Remarks about idiom and design, folded: they cost nothing."""
    found = [one for one in data.get("remarks") or () if one.get("text")]
    items = "".join(f"<li>{_remark(one)}</li>" for one in found)
    title = say("Remarks on your code, which cost no points")
    return (
        f'<details class="tfkit-v-remarks"><summary>{title} ({len(found)})</summary><ul>{items}</ul></details>'
        if items
        else ""
    )


def _remark(remark: Mapping[str, Any]) -> str:
    line, text = remark.get("line"), _code(remark["text"])
    return with_label(f"<b>{say('Line {line}', line=int(line))}</b>", text) if line else text


def _foot(data: Mapping[str, Any]) -> str:
    """Where and how it was checked; below the fold of a card that passed, with what was not run there."""
    facts = {"sandbox": data.get("sandbox"), "device": data.get("device"), "seed": data.get("seed")}
    words = " · ".join(f"{say(name)} {_text(value)}" for name, value in facts.items() if value not in (None, ""))
    foot = f'<div class="tfkit-v-foot"><small>{words}</small></div>'
    if data["status"] != "passed":
        return foot
    not_run = f"<p><small>{_code(sentence(reason(data)))}</small></p>" if data.get("reason") else ""
    return f"<details><summary>{say('How this was checked')}</summary>{not_run}{foot}</details>"


def _text(value: Any) -> str:
    text = str(value)
    if len(text) > LONGEST:
        text = text[:LONGEST] + " …"
    return escape(text).replace("\n", "<br>")
