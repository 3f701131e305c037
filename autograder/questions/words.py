"""Questions and what became of the answers, as text for a terminal; and the sentences that the cards share.

Questions are JSON objects here, as `CodeQuestion.as_json` makes them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from autograder.feedback.code import numbered_lines
from autograder.feedback.text import plain
from autograder.feedback.translate import say
from autograder.questions.question import answer_text

TITLE = "Questions about your code"
CALL = "This call"
ANSWERS = {
    "number": "one number",
    "shape": "a shape, as [2, 3]",
    "choice": "the number of one option",
    "set": "the indices, as [0, 2]; [] for none",
}
RIGHT, NOT_RIGHT = "as the code does", "the code does otherwise"
YOURS = "your answer: {answer}"
KEY = "Key: {key}"
NONE = "There are no questions: the code does not give what a right answer gives, or there is too little to ask about."
SIGNS = {True: "✓", False: "≠"}

Shown = Mapping[str, Any]


def in_words(question: Shown, answer: Any) -> str:
    """The key, or an answer that has its form, in words."""
    return answer_text(question["kind"], question["options"], answer)


def questions_text(title: str, code: str, questions: Sequence[Shown]) -> str:
    """The code and the questions; with keys if they have some."""
    lines = [f"{title}: {say(TITLE)}", "", *numbered_lines(code), ""]
    before = None
    for number, one in enumerate(questions, 1):
        if (one["call"], one["inputs"]) != before:
            before = one["call"], one["inputs"]
            inputs = "\n".join(one["inputs"]).splitlines()
            lines += [f"{say(CALL)}: {one['call']}", *(f"    {line}" for line in inputs), ""]
        lines.append(f"{number}. {one['prompt']}")
        lines += [f"   {place}) {option}" for place, option in enumerate(one["options"], 1)]
        lines.append(f"   ({say(ANSWERS[one['kind']])})")
        if "key" in one:
            lines.append(f"   {say(KEY, key=in_words(one, one['key']))}  {one['explanation']}")
        lines.append("")
    return plain("\n".join(lines if questions else [*lines, say(NONE)]))


def verdict_text(judged: Sequence[Shown]) -> str:
    """A line for each answer, with the explanation."""
    lines = []
    for number, one in enumerate(judged, 1):
        state = say(RIGHT) if one["right"] else say(NOT_RIGHT)
        lines += [f"{SIGNS[one['right']]} {number}. {one['prompt']}",
                  f"     {say(YOURS, answer=in_words(one, one['answer']))}: {state}. {one['explanation']}"]  # fmt: skip
    return plain("\n".join(lines))
