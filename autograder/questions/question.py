"""What a question is, and whether an answer to it is right."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from autograder.feedback.translate import say

KeyFinder = Callable[[Any], Any]  # a runner of the code -> the key, or None if it cannot be found
Kind = Literal["number", "shape", "choice", "set"]
CLOSE = 0.006  # of a number that is shown with two decimals
LONGEST = 2000  # characters of an answer


@dataclass(frozen=True)
class ShownCall:
    """The call that a question is about, as a reader sees it: each input in full, or its shape."""

    call: str
    inputs: tuple[str, ...]
    whole: bool  # every input is shown in full


@dataclass(frozen=True)
class CodeQuestion:
    """One question. `key`: a number, a list of sizes, an option's index, or a list of indices of rows."""

    topic: str
    kind: Kind
    line: int  # 1-based, of the code
    text: str
    parts: dict[str, Any]
    key: Any
    shown: ShownCall
    why: str  # the sentence that explains the key
    options: tuple[str, ...] = ()  # of a choice
    rows: int = 0  # of a set: how many there are
    key_line: int = 0  # the line that the key is about, if `line` must not tell it
    find_again: KeyFinder | None = field(default=None, repr=False, compare=False)  # the key, found in a third way

    @property
    def id(self) -> str:
        """`shape/7/q @ k`: the same at each run on the same code."""
        return f"{self.topic}/{self.line}/{self.parts.get('what', '')}"

    @property
    def prompt(self) -> str:
        """The question in the reader's language."""
        return say(self.text, **self.parts)

    @property
    def key_text(self) -> str:
        """The key in words."""
        return answer_text(self.kind, self.options, self.key)

    @property
    def explanation(self) -> str:
        """Why it is the key, in the reader's language."""
        return say(self.why, **{**self.parts, "key": self.key_text, "line": self.key_line or self.line})

    def as_json(self) -> dict[str, Any]:
        """The question with its key as a JSON object."""
        return {"id": self.id, "kind": self.kind, "line": self.line, "prompt": self.prompt,
                "options": list(self.options), "rows": self.rows, "call": self.shown.call,
                "inputs": list(self.shown.inputs), "key": self.key, "explanation": self.explanation}  # fmt: skip


def fingerprint(question: Mapping[str, Any]) -> str:
    """By which a question's JSON object is found again among those that are made anew; it does not tell the key."""
    shown = [question[name] for name in ("id", "kind", "prompt", "call", "inputs", "options", "rows")]
    return hashlib.sha256(json.dumps(shown).encode("utf-8", "replace")).hexdigest()[:16]


def without_key(question: Mapping[str, Any]) -> dict[str, Any]:
    """A question's JSON object without what tells the answer."""
    return {name: value for name, value in question.items() if name not in ("key", "explanation")}


def answer_text(kind: Kind, options: Sequence[str], answer: Any) -> str:
    """An answer in words."""
    if kind == "choice":
        return options[answer]
    if kind == "set":
        return ", ".join(map(str, answer)) or say(NONE)
    if kind == "shape":
        return str(list(answer))
    return f"{answer:g}"


class BadAnswer(ValueError):
    """The answer is of another kind than the question asks for; the message says what is wanted."""


def read_answer(kind: Kind, options: int, rows: int, given: Any) -> Any:
    """An answer as a student gives it, a text or a Python value, in the form of a key. Raises BadAnswer."""
    given = given.tolist() if hasattr(given, "tolist") else given
    if kind == "number" and isinstance(given, str) and THOUSANDS.search(given):
        raise BadAnswer(say(NO_COMMA))
    try:
        if kind == "number":
            return _number(given)
        if kind == "set" and isinstance(given, str) and given.strip().casefold() in _nothing():
            return []
        numbers = _whole_numbers(given)
    except (TypeError, ValueError, OverflowError):
        raise BadAnswer(say(WANTED[kind])) from None
    if kind == "shape":
        return numbers
    if kind == "choice":
        if len(numbers) != 1 or not 1 <= numbers[0] <= options:
            raise BadAnswer(say(OPTION, most=options))
        return numbers[0] - 1
    if any(not 0 <= row < rows for row in numbers):
        raise BadAnswer(say(INDICES, most=rows - 1))
    return sorted(set(numbers))


def _nothing() -> set[str]:
    """The words for no index at all, as they are shown and as they are often written."""
    return {"none", NONE, say(NONE).casefold()}


NONE = "none of them"
THOUSANDS = re.compile(r"\d,\d{3}(?!\d)")
NO_COMMA = "Give the number without a comma: 1024 for 1,024, or 1.024."
OPTION = "Give the number of one option, 1 to {most}."
INDICES = "Give indices from 0 to {most}, or nothing for none."
WANTED = {
    "number": "Give one number.",
    "shape": "Give the sizes of a shape, as [2, 3].",
    "choice": "Give the number of one option.",
    "set": "Give the indices, as [0, 2]; nothing for none.",
}


def _number(given: Any) -> float:
    if isinstance(given, str):
        given = given.strip()[:LONGEST].replace(",", ".")
    number = float(given)
    if not math.isfinite(number):
        raise ValueError("no finite number")
    return number


def _whole_numbers(given: Any) -> list[int]:
    if isinstance(given, str):
        words = given[:LONGEST].strip().strip("[](){}").replace(",", " ").replace("×", " ").replace("x", " ").split()
        return [int(word) for word in words]
    given = list(given) if isinstance(given, list | tuple | set | frozenset) else [given]
    if any(isinstance(one, bool) or int(one) != one for one in given):
        raise ValueError("no whole number")
    return [int(one) for one in given]


def is_right(kind: Kind, key: Any, answer: Any) -> bool:
    """Whether an answer, as `read_answer` gives it, is the key."""
    if kind == "number":
        return bool(abs(float(answer) - float(key)) <= CLOSE)
    return bool(answer == key)
