"""A puzzle and its verdict as cards of HTML, in the style of a verdict's card; all text is escaped."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

from autograder.feedback.html import card_html, title_html
from autograder.feedback.matrix import mark_code
from autograder.feedback.translate import say
from autograder.feedback.words import NO_SANDBOX, SIGNS, STATES
from autograder.ordering.words import GIVEN, HOW, TITLE, given_code


def task_html(shown: Mapping[str, Any], call: str) -> str:
    """The puzzle for places without its widget: numbered lines, and how to hand in an order of them."""
    lines = "".join(f"<li><pre><code>{escape(text)}</code></pre></li>" for text in shown["lines"])
    around = f"<p>{escape(say(GIVEN))}</p><pre><code>{escape(given_code(shown))}</code></pre>"
    hand_in = f"<p>{mark_code(escape(say(HOW)))}</p><pre><code>{escape(call)}</code></pre>"
    body = f'<p class="tfkit-v-hint">{escape(shown["intro"])}</p><ol>{lines}</ol>{around}{hand_in}'
    return card_html("ordering", say(TITLE), title_html(shown["title"]), shown["exercise"], body)


def verdict_html(verdict: Mapping[str, Any]) -> str:
    """The verdict on an order: its sentences, and the checks that were made."""
    status = verdict["status"]
    badge = f"{SIGNS[status]} {say(STATES[status])}"
    first, *others = (mark_code(escape(sentence)).replace("\n", "<br>") for sentence in verdict["sentences"])
    words = f'<p class="tfkit-v-hint">{first}</p>' + "".join(f"<p>{one}</p>" for one in others)
    chips = "".join(f'<li class="tfkit-is-{found}">{SIGNS[found]} {escape(say(name))}</li>'
                    for name, found in verdict["checks"])  # fmt: skip
    made = f'<ul class="tfkit-v-chips">{chips}</ul>' if chips else ""
    warning = f"<p>{escape(say(NO_SANDBOX))}</p>" if verdict["sandbox"] == "subprocess" else ""
    return card_html(status, badge, escape(say(TITLE)), verdict["exercise"], f"{words}{made}{warning}")
