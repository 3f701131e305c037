"""Questions and their verdict as cards of HTML, in the style of a verdict's card; all text is escaped.

Before they are answered there is no key on the card.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from autograder.feedback.code import numbered_html
from autograder.feedback.html import card_html, title_html
from autograder.feedback.matrix import mark_code
from autograder.feedback.translate import say
from autograder.questions.words import ANSWERS, CALL, NONE, NOT_RIGHT, RIGHT, SIGNS, TITLE, YOURS, Shown, in_words

CODE = "Your code"
HOW = "Answer once, without running it: the answers are kept beside the notebook, and then you see what the code does."


def call_html(question: Shown) -> str:
    """The call with its inputs."""
    inputs = "\n".join(question["inputs"])
    given = f'<pre class="tfkit-q-inputs" tabindex="0">{escape(inputs)}</pre>' if inputs else ""
    return f"<p>{escape(say(CALL))}: <code>{escape(question['call'])}</code></p>{given}"


def prompt_html(question: Shown) -> str:
    """The question with its options."""
    options = "".join(f"<li>{mark_code(escape(option))}</li>" for option in question["options"])
    choices = f"<ol>{options}</ol>" if options else ""
    return f"<p>{mark_code(escape(question['prompt']))}</p>{choices}"


def questions_html(title: str, exercise: str, code: str, questions: Sequence[Shown], call: str) -> str:
    """The card of questions that are to be answered. call: how, as code; "" where a form below asks for them."""
    items, before = [], None
    for one in questions:
        given = "" if (one["call"], one["inputs"]) == before else call_html(one)
        before = one["call"], one["inputs"]
        items.append(f"<li>{given}{prompt_html(one)}<small>{escape(say(ANSWERS[one['kind']]))}</small></li>")
    asked = f'<ol class="tfkit-q">{"".join(items)}</ol>' if items else f"<p>{escape(say(NONE))}</p>"
    code_of_call = f"<pre><code>{escape(call)}</code></pre>" if call else ""
    how = f"<p>{escape(say(HOW))}</p>{code_of_call}" if items else ""
    body = f"<b>{escape(say(CODE))}</b>{numbered_html(code)}{asked}{how}"
    return card_html("hunt", say(TITLE), title_html(title), exercise, body)


def verdict_html(title: str, exercise: str, judged: Sequence[Shown], note: str = "") -> str:
    """The card of answered questions: each with what the code does. note: a sentence below them."""
    passed = all(one["right"] for one in judged)
    parts = "".join(map(_answered, judged)) + (f"<p>{escape(note)}</p>" if note else "")
    return card_html("passed" if passed else "hunt", say(TITLE), title_html(title), exercise, parts)


def _answered(one: Shown) -> str:
    state = say(RIGHT) if one["right"] else say(NOT_RIGHT)
    yours = say(YOURS, answer=in_words(one, one["answer"]))
    right, sign = "passed" if one["right"] else "not_run", SIGNS[one["right"]]
    return (
        f'<div class="tfkit-h-part tfkit-is-{right}">{prompt_html(one)}<p>{sign} {mark_code(escape(yours))}: '
        f"<b>{escape(state)}</b>. {mark_code(escape(one['explanation']))}</p></div>"
    )
