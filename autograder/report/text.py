"""A verdict in one line, for logs and terminals."""

from __future__ import annotations

import re

from autograder.report.html import SIGNS, as_dict, number

# What a terminal obeys instead of showing it, and what turns the direction of the text around it
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def plain(text: str) -> str:
    """`text` for a terminal: control characters but line ends and tabs as `\\x1b`, so that none is obeyed."""
    return CONTROL.sub(lambda found: ascii(found.group())[1:-1], text)


def verdict_line(verdict: object) -> str:
    """`✗ attention.attend 0/1 · divided_by_d`: sign, exercise, score, and the reason if there is one."""
    data = as_dict(verdict)
    sign = SIGNS.get(data["status"], "?")
    why = data.get("misconception") or data.get("reason") or ""
    first = str(why).strip().partition("\n")[0][:100]
    score = f"{number(data['score'])}/{number(data['max_score'])}"
    return plain(" ".join([sign, data["exercise"], score]) + (f" · {first}" if first else ""))
