"""A verdict as an HTML fragment: in the notebook, in the lab and on the feedback page.

Inline styles only and no script, because every one of those places sanitises. Text and lines take the colour of what
surrounds them, tints are translucent, and a badge carries its own background, so light and dark themes both read well.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from autograder.api import HINTS, hinted

SIGNS = {"passed": "✓", "failed": "✗", "not_graded": "?", "not_run": "–"}
WORDS = {"passed": "passed", "failed": "not yet right", "not_graded": "not graded", "not_run": "not run"}
BADGES = {"passed": "#1a7f37", "failed": "#b3261e", "not_graded": "#8a5a00", "not_run": "#5f6570"}
LINE = "1px solid rgba(128,128,128,0.35)"
LONGEST = 2000  # characters of any one text; a student's exception may carry a whole tensor
WIDEST = 12  # rows and columns of a counter-example


def as_dict(verdict: object) -> dict[str, Any]:
    """The verdict as the object of `autograder check --json`; a mapping passes through."""
    if isinstance(verdict, Mapping):
        return dict(verdict)
    return verdict.as_json()  # type: ignore[attr-defined]


def verdict_html(verdict: object, hints: int = HINTS) -> str:
    """The fragment for a Verdict or its JSON object, with so many steps of help (`api.hinted`).

    All is escaped; a verdict holds no hidden values.
    """
    data = hinted(as_dict(verdict), hints)
    tint = "rgba(26,127,55,0.07)" if data["status"] == "passed" else "rgba(128,128,128,0.07)"
    parts = [_head(data), _lesson(data), _checks(data), _counterexample(data), _foot(data)]
    style = (
        f"border:{LINE};border-left:4px solid {BADGES.get(data['status'], '#5f6570')};border-radius:4px;"
        f"background-color:{tint};padding:10px 14px;margin:4px 0;max-width:60em;line-height:1.45"
    )
    return f'<div class="tfkit-verdict" style="{style}">{"".join(parts)}</div>'


def _head(data: Mapping[str, Any]) -> str:
    score = f"{number(data['score'])} of {number(data['max_score'])}"
    points = "point" if number(data["max_score"]) == "1" else "points"
    return (
        f'<div style="margin:0 0 6px 0">{_badge(data["status"])} <code>{escape(str(data["exercise"]))}</code>'
        f' &nbsp; <b style="font-weight:bold">{score}</b> {points}</div>'
    )


def _badge(status: str) -> str:
    style = (
        f"background-color:{BADGES.get(status, '#5f6570')};color:#ffffff;border-radius:3px;padding:2px 8px;"
        "font-weight:bold;white-space:nowrap"
    )
    return f'<span style="{style}">{SIGNS.get(status, "?")} {WORDS.get(status, escape(status))}</span>'


def _lesson(data: Mapping[str, Any]) -> str:
    """What was misunderstood, in words; and what stopped the code."""
    blocks = []
    if data.get("hint"):
        blocks.append(f'<p style="margin:8px 0;font-size:110%">{_text(data["hint"])}</p>')
    elif data.get("misconception"):
        blocks.append(f'<p style="margin:8px 0;font-size:110%">{_text(data["misconception"].replace("_", " "))}</p>')
    if data.get("reason"):
        blocks.append(f'<p style="margin:8px 0">{_text(data["reason"])}</p>')
    if data["status"] == "not_graded":
        blocks.append('<p style="margin:8px 0">This is not your mistake. An instructor will grade it by hand.</p>')
    return "".join(blocks)


def _checks(data: Mapping[str, Any]) -> str:
    rows = [
        f'<tr><td style="{_cell()};white-space:nowrap;color:inherit">{_mark(check["status"])}</td>'
        f'<td style="{_cell()};white-space:nowrap">{_text(check["name"].replace("_", " "))}</td>'
        f'<td style="{_cell()}">{_text(check.get("message", ""))}{_map(check.get("map") or ())}</td></tr>'
        for check in data.get("checks") or ()
    ]
    if not rows:
        return ""
    head = "".join(f'<th style="{_cell()};font-weight:bold">{name}</th>' for name in ("", "property", "what was seen"))
    return f'<table style="{_table()}"><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table>'


SIGNS_OF_FLOW = {"●": "rgba(26,127,55,0.35)", "▲": "#b3261e", "○": "#8a5a00", "·": "transparent"}


def _map(rows: Sequence[str]) -> str:
    """Who sees whom: a row per output, a column per input."""
    if not rows:
        return ""
    lines = [
        "<tr>"
        + "".join(
            f'<td style="border:{LINE};width:1.4em;text-align:center;padding:0;'
            f'background-color:{SIGNS_OF_FLOW.get(sign, "transparent")}">{escape(sign)}</td>'
            for sign in row[: 2 * WIDEST]
        )
        + "</tr>"
        for row in rows[: 2 * WIDEST]
    ]
    key = "rows: outputs, columns: inputs; ● may be seen and is, ▲ is seen and must not be, ○ should be seen and is not"
    return f'<table style="{_table()}"><tbody>{"".join(lines)}</tbody></table><small>{key}</small>'


def _mark(status: str) -> str:
    style = f"color:#ffffff;background-color:{BADGES.get(status, '#5f6570')};border-radius:3px;padding:0 5px"
    return f'<span style="{style}" title="{escape(status)}">{SIGNS.get(status, "?")}</span>'


def _counterexample(data: Mapping[str, Any]) -> str:
    example = data.get("counterexample")
    if not example:
        return ""
    rows = "".join(
        f'<tr><th style="{_cell()};font-weight:bold;white-space:nowrap">{_text(str(name).replace("_", " "))}</th>'
        f'<td style="{_cell()}">{_value(value)}</td></tr>'
        for name, value in example.items()
        if value is not None
    )
    title = '<div style="margin:10px 0 2px 0;font-weight:bold">The smallest example found</div>'
    return f'{title}<table style="{_table()}"><tbody>{rows}</tbody></table>'


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        return "<br>".join(f"{_text(name)} = {_value(part)}" for name, part in value.items())
    if _is_vector(value):
        return _grid([value])
    if isinstance(value, list | tuple) and value and all(_is_vector(row) for row in value):
        return _grid(value)
    return f"<code>{_text(value)}</code>"


def _is_vector(value: Any) -> bool:
    return isinstance(value, list | tuple) and bool(value) and all(isinstance(x, int | float) for x in value)


def _grid(rows: Any) -> str:
    """A small matrix as a table; what does not fit is an ellipsis."""
    cell = "border:none;padding:1px 7px;text-align:right;font-family:monospace;color:inherit"
    lines = []
    for row in rows[:WIDEST]:
        shown = [_entry(x) for x in row[:WIDEST]] + (["…"] if len(row) > WIDEST else [])
        lines.append("<tr>" + "".join(f'<td style="{cell}">{x}</td>' for x in shown) + "</tr>")
    more = f'<tr><td style="{cell}">…</td></tr>' if len(rows) > WIDEST else ""
    style = f"border-collapse:collapse;border:none;border-left:{LINE};border-right:{LINE};margin:0;color:inherit"
    return f'<table style="{style}"><tbody>{"".join(lines)}{more}</tbody></table>'


def _entry(x: float | bool) -> str:
    return str(x) if isinstance(x, bool) else escape(f"{x:.4g}")


def _foot(data: Mapping[str, Any]) -> str:
    told = {"sandbox": data.get("sandbox"), "device": data.get("device"), "seed": data.get("seed")}
    words = " · ".join(f"{name} {escape(str(value))}" for name, value in told.items() if value not in (None, ""))
    return f'<div style="margin:8px 0 0 0;font-size:85%;opacity:0.75">{words}</div>'


def _text(value: Any) -> str:
    text = str(value)
    if len(text) > LONGEST:
        text = text[:LONGEST] + " …"
    return escape(text).replace("\n", "<br>")


def number(x: float) -> str:
    """A score without a needless `.0`."""
    return f"{float(x):.2f}".rstrip("0").rstrip(".")


def _table() -> str:
    return "border-collapse:collapse;border:none;margin:6px 0;text-align:left;font-size:100%;color:inherit"


def _cell() -> str:
    return f"border:none;border-bottom:{LINE};padding:3px 10px 3px 4px;text-align:left;vertical-align:top;color:inherit"
