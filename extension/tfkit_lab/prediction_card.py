"""A sealed prediction as a card, alone or with the observed result: HTML without scripts, and a line of text."""

from __future__ import annotations

from functools import cache
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

from tfkit_lab.questions import is_right

CAME_TRUE, CAME_OTHERWISE = "✓", "≠"


@cache
def style() -> str:
    """The style sheet of verdicts, which these cards share, with their additions."""
    shared = files("autograder.feedback").joinpath("card.css").read_text(encoding="utf-8")
    return shared + (Path(__file__).parent / "prediction.css").read_text(encoding="utf-8")


def bundle(name: str, entry: dict[str, Any]) -> dict[str, str]:
    """A prediction as an output of a notebook. entry: as returned by `sealed.seal`, with "observed" if known."""
    return {"text/html": html(name, entry), "text/plain": text(name, entry)}


def html(name: str, entry: dict[str, Any]) -> str:
    """The card as HTML; all user input is escaped."""
    rows = [_row(question, answer, observed) for question, answer, observed in _lines(entry)]
    heads = ["", "you predicted", "came out"] if "observed" in entry else ["", "you predicted"]
    top = "".join(f'<th scope="col">{head}</th>' if head else "<td></td>" for head in heads)
    table = f'<table class="tfkit-p"><thead><tr>{top}</tr></thead><tbody>{"".join(rows)}</tbody></table>'
    state, sentence = _state(entry)
    badge = f'<span class="tfkit-v-badge">{escape(sentence)}</span> <code>{escape(name)}</code>'
    next_step = "Go on: a cell below compares it with what comes out."
    foot = "" if "observed" in entry else f'<p class="tfkit-p-next">{next_step}</p>'
    css = " ".join(line.strip() for line in style().splitlines())
    body = (
        f'<div class="tfkit-v-head">{badge}</div>'
        + (table if entry["answers"] is not None or "observed" in entry else "")
        + foot
    )
    return f'<style>{css}</style><div class="tfkit-verdict tfkit-predict tfkit-is-{state}">{body}</div>'


def text(name: str, entry: dict[str, Any]) -> str:
    """One line for each question."""
    lines = [f"{name}: {_state(entry)[1]}"]
    for question, answer, observed in _lines(entry):
        line = f"  {question['label']} predicted {_plain(question, answer)}"
        lines.append(line if "observed" not in entry else f"{line}, came out {_plain(question, observed)}")
    return "\n".join(lines)


def _lines(entry: dict[str, Any]) -> list[tuple[dict[str, Any], Any, Any]]:
    none = [None] * len(entry["questions"])
    return list(zip(entry["questions"], entry["answers"] or none, entry.get("observed") or none, strict=True))


def _state(entry: dict[str, Any]) -> tuple[str, str]:
    """The CSS class of the card, and its badge. A wrong prediction is not shown as an error."""
    if "observed" not in entry:
        return "sealed", "skipped" if entry["answers"] is None else "sealed"
    if entry["answers"] is None:
        return "sealed", "what came out"
    right = [is_right(*line) for line in _lines(entry)]
    if all(right):
        return "passed", f"{CAME_TRUE} as you predicted"
    how_many = f"{sum(right)} of {len(right)}" if len(right) > 1 else "not"
    return "sealed", f"{CAME_OTHERWISE} {how_many} as you predicted"


def _row(question: dict[str, Any], answer: Any, observed: Any) -> str:
    head = f'<th scope="row">{escape(question["label"])}</th>'
    if observed is None:
        return f"<tr>{head}<td>{_shown(question, answer)}</td></tr>"
    sign = "" if answer is None else CAME_TRUE if is_right(question, answer, observed) else CAME_OTHERWISE
    cells = f"<td>{_shown(question, answer, observed)}</td><td>{sign} {_shown(question, observed)}</td>"
    return f'<tr class="{"tfkit-p-true" if sign == CAME_TRUE else ""}">{head}{cells}</tr>'


def _shown(question: dict[str, Any], value: Any, observed: Any = None) -> str:
    if value is None or question["kind"] != "mask":
        return escape(_plain(question, value))
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in question["columns"])
    rows = []
    for index, (name, row) in enumerate(zip(question["rows"], value, strict=True)):
        cells = "".join(map(_cell, row, observed[index] if observed else row))
        rows.append(f'<tr><th scope="row">{escape(name)}</th>{cells}</tr>')
    return f'<table class="tfkit-v-m"><thead><tr><td></td>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table>'


def _cell(is_true: bool, observed: bool) -> str:
    mark = ("tfkit-h3" if is_true else "") + (" tfkit-wrong" if is_true != observed else "")
    return f'<td class="{mark}">{"✓" if is_true else "·"}</td>'


def _plain(question: dict[str, Any], value: Any) -> str:
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
