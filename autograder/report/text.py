"""A verdict in one line, for logs and terminals."""

from __future__ import annotations

from autograder.report.html import SIGNS, as_dict, number


def verdict_line(verdict: object) -> str:
    """`✗ attention.attend 0/1 · divided_by_d`: sign, exercise, score, and the reason if there is one."""
    data = as_dict(verdict)
    sign = SIGNS.get(data["status"], "?")
    why = data.get("misconception") or data.get("reason") or ""
    first = str(why).strip().partition("\n")[0][:100]
    score = f"{number(data['score'])}/{number(data['max_score'])}"
    return " ".join([sign, data["exercise"], score]) + (f" · {first}" if first else "")
