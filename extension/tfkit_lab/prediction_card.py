"""A sealed prediction as a card, alone or with the observed result: HTML without scripts, and a line of text."""

from __future__ import annotations

from html import escape
from typing import Any

from autograder.feedback.translate import say
from tfkit_lab.card_style import card_style
from tfkit_lab.questions import is_right

WAS_SURE = "You were {sure} % sure."
CAME_TRUE, CAME_OTHERWISE = "✓", "≠"


def style() -> str:
    """The style sheet of these cards."""
    return card_style("prediction.css")


def bundle(name: str, entry: dict[str, Any]) -> dict[str, str]:
    """A prediction as an output of a notebook. entry: as returned by `sealed.seal`, with "observed" if known."""
    return {"text/html": html(name, entry), "text/plain": text(name, entry)}


def html(name: str, entry: dict[str, Any]) -> str:
    """The card as HTML; all user input is escaped."""
    twice = entry.get("again") is not None
    rows = [
        _row(question, [answer, again] if twice else [answer], observed)
        for question, answer, again, observed in _lines(entry)
    ]
    heads = ["", "you predicted", *(["after talking"] if twice else []), *(["came out"] if "observed" in entry else [])]
    top = "".join(f'<th scope="col">{head}</th>' if head else "<td></td>" for head in heads)
    table = f'<table class="tfkit-p"><thead><tr>{top}</tr></thead><tbody>{"".join(rows)}</tbody></table>'
    scrolled = f'<div class="tfkit-v-box" tabindex="0">{table}</div>'  # by keys too, on a narrow screen
    state, sentence = _state(entry)
    badge = f'<span class="tfkit-v-badge">{escape(sentence)}</span> <code>{escape(name)}</code>'
    next_step = "Go on: a cell below compares it with what comes out."
    foot = "" if "observed" in entry else f'<p class="tfkit-p-next">{next_step}</p>'
    if entry.get("sure") is not None:
        foot = f"<p>{escape(say(WAS_SURE, sure=entry['sure']))}</p>{foot}"
    css = " ".join(line.strip() for line in style().splitlines())
    body = (
        f'<div class="tfkit-v-head">{badge}</div>'
        + (scrolled if entry["answers"] is not None or "observed" in entry else "")
        + foot
    )
    return f'<style>{css}</style><div class="tfkit-verdict tfkit-predict tfkit-is-{state}">{body}</div>'


def text(name: str, entry: dict[str, Any]) -> str:
    """One line for each question."""
    lines = [f"{name}: {_state(entry)[1]}"]
    for question, answer, again, observed in _lines(entry):
        line = f"  {question['label']} predicted {plain(question, answer)}"
        if entry.get("again") is not None:
            line += f", after talking {plain(question, again)}"
        if "observed" in entry:
            line += f", came out {plain(question, observed)}"
        lines.append(line)
    if entry.get("sure") is not None:
        lines.append("  " + say(WAS_SURE, sure=entry["sure"]))
    return "\n".join(lines)


def _lines(entry: dict[str, Any]) -> list[tuple[dict[str, Any], Any, Any, Any]]:
    """Each question with its answer, that of the second vote and the observed value, each of them None if unknown."""
    none = [None] * len(entry["questions"])
    values = [entry.get(key) or none for key in ("answers", "again", "observed")]
    return list(zip(entry["questions"], *values, strict=True))


def _state(entry: dict[str, Any]) -> tuple[str, str]:
    """The CSS class of the card, and its badge. A wrong prediction is not shown as an error."""
    if "observed" not in entry:
        return "sealed", "skipped" if entry["answers"] is None else "sealed"
    if entry["answers"] is None:
        return "sealed", "what came out"
    right = [is_right(question, answer, observed) for question, answer, _, observed in _lines(entry)]
    if all(right):
        return "passed", f"{CAME_TRUE} as you predicted"
    how_many = f"{sum(right)} of {len(right)}" if len(right) > 1 else "not"
    return "sealed", f"{CAME_OTHERWISE} {how_many} as you predicted"


def _row(question: dict[str, Any], votes: list[Any], observed: Any) -> str:
    """votes: the answer, and that of the second vote if there was one."""
    head = f'<th scope="row">{escape(question["label"])}</th>'
    answers = "".join(f"<td>{_shown(question, one, observed)}</td>" for one in votes)
    if observed is None:
        return f"<tr>{head}{answers}</tr>"
    sign = "" if votes[0] is None else CAME_TRUE if is_right(question, votes[0], observed) else CAME_OTHERWISE
    cells = f"{answers}<td>{sign} {_shown(question, observed)}</td>"
    return f'<tr class="{"tfkit-p-true" if sign == CAME_TRUE else ""}">{head}{cells}</tr>'


def _shown(question: dict[str, Any], value: Any, observed: Any = None) -> str:
    """A value as HTML: a mask as a table, in which the cells that differ from `observed` are marked."""
    if value is None or question["kind"] != "mask":
        return escape(plain(question, value))
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in question["columns"])
    rows = []
    for index, (name, row) in enumerate(zip(question["rows"], value, strict=True)):
        cells = "".join(map(_cell, row, observed[index] if observed else row))
        rows.append(f'<tr><th scope="row">{escape(name)}</th>{cells}</tr>')
    return f'<table class="tfkit-v-m"><thead><tr><td></td>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table>'


def _cell(is_true: bool, observed: bool) -> str:
    mark = ("tfkit-h3" if is_true else "") + (" tfkit-wrong" if is_true != observed else "")
    return f'<td class="{mark}">{"✓" if is_true else "·"}</td>'


def plain(question: dict[str, Any], value: Any) -> str:
    """A value as text."""
    if value is None:
        return "–"
    if question["kind"] == "number":
        return _short(value)
    if question["kind"] == "choice":
        return ", ".join(value) or "none of them"
    if question["kind"] == "mask":
        return " ".join("".join("1" if cell else "0" for cell in row) for row in value)
    return f"[{', '.join(str(one) if isinstance(one, int) else _short(one) for one in value)}]"


def _short(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:.4g}"
