"""The messages of the standard checks, which are English, in the reader's language.

A check compares millions of answers while a mistake is looked for, and most messages are never read. So they are made
in English and translated where they are shown: each template below matches the messages that were made from it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

from autograder.feedback.translate import say

TEMPLATES = (
    "{name} is off by {by} ({wrong} of {count} entries differ); in float64 it is right, so this is rounding alone",
    "{name} is off by {by} ({wrong} of {count} entries differ)",
    "{name} is {value} where a finite number is expected ({wrong} of {count} entries differ)",
    "{name} should be -inf ({wrong} of {count} entries differ)",
    "{name} differs ({wrong} of {count} entries differ)",
    "{name} has shape {shape} where {expected} is expected",
    "{name} holds {count} values where {expected} are expected",
    "{name} is on {device} where {expected} is expected",
    "{name} is {kind} where {expected} is expected",
    "{name} should have been an error",
    "{name} differs",
    "your code stopped: {message}",
    "an output depends on an input that it must not depend on",
    "an output does not depend on an input that it should depend on",
    "the result has the wrong shape or type",
    "the call changes its own input (the argument `{argument}`); the caller still needs it",
    "the call draws random numbers or sets a seed; the same inputs must always give the same result",
    "the call changes a global setting of torch ({names})",
    "your code replaces functions of torch; other code in the process gets other results",
    "on a long input the values are wrong, so the cost was not measured",
    "the values are wrong in a call whose time was to be measured",
    "{message} (it takes {ratio} times the reference's processor time, and {most} times is the limit)",
    "in a few training steps from its own initial values the loss hardly falls",
    "after a few training steps the loss cannot be computed any more",
    "in a few training steps the loss does not change: the result does not follow the parameters",
    "in a few training steps from the same parameters the loss is not what it should be",
    "your code calls torch's own {functions}; this costs no points, but it skips what the exercise is about",
    "your code calls torch's own {functions}",
    "this machine has no CUDA device",
    "the CPU alone was asked for",
    "your code gave no answer to look at",
    "not written yet",
    "{names} is not written yet",
    "{names} are not written yet",
    "Not run here: {checks}.",
    # of an instructor's own tests
    "the test failed",
    "the test stopped with {error}",
    "the test's score is not a finite number",
    "the test needs more memory for your answer than it may have",
    "the test passes a value that cannot be sent into the sandbox: {message}",
    "the test did not end within {seconds} s, or ended its process; grade it by hand",
    "{count} cells ended their process or did not finish in time, so this one was not run",
    "an object of {class} was compared: only tensors, numbers and lists can be",
    "an object of {class} was used as a truth value: only tensors, numbers and lists can be",
    "an object of {class} was used as if it were data: only tensors, numbers and lists can be. If the test is about "
    "such objects, its author allows it by the line `# autograder: objects`",
    "`{symbol}` has no value, since the test {test} stopped before",
    "`{symbol}` has no value, since the locked cell {cell} stopped with {error}",
    "`{symbol}` is the name of a library and of something in the answer: import it in a locked cell, or release its "
    "`def`",
)
PARTS = (
    "None (is a `return` missing?)",
    "a tensor of shape {shape}",
    "a tuple of {count} values",
    "a list of {count} values",
    "a tensor",
    "a tuple",
    "a list",
    "a dict",
    "a dataclass",
    "a value of type {name}",
)
NAMES = (
    "the result{index} at {place}",
    "gradient of {name} at {place}",
    "the result{index}",
    "gradient of {name}",
)
CHECKS = (
    "right values",
    "shapes and types",
    "parameter names and shapes",
    "no side effects",
    "non-contiguous inputs",
    "very large scores",
    "a row that may see nothing",
    "float64 in, float64 out",
    "bfloat16 in, bfloat16 out",
    "trains in a few steps",
    "built from basic operations",
    "information flow",
    "peak memory",
    "speed",
    "on a CUDA device",
    "form of the contract",
)
FORMS = {"index": r"(?:\[\d+\])*", "place": r"\[\d+(?:, \d+)*\]", "number": r"\d+", "count": r"\d+", "wrong": r"\d+",
         "by": r"\S+"}  # fmt: skip


@cache
def _pattern(template: str) -> re.Pattern[str]:
    parts = re.split(r"\{(\w+)\}", template)
    made = [
        f"(?P<{part}>{FORMS.get(part, '.+?')})" if index % 2 else re.escape(part) for index, part in enumerate(parts)
    ]
    return re.compile("".join(made), re.DOTALL)


def _match(text: str, templates: tuple[str, ...]) -> tuple[str, dict[str, str]] | None:
    for template in templates:
        if found := _pattern(template).fullmatch(text):
            return template, found.groupdict()
    return None


def translate_message(message: str, in_words: Callable[[str], str]) -> str | None:
    """A standard check's message in the reader's language; None for any other message.

    `in_words`: turns a place in a tensor, such as `0, 2`, into words.
    """
    found = _match(message, TEMPLATES)
    if found is None:
        return None
    template, parts = found
    for key, value in parts.items():
        if key in ("kind", "expected") and (part := _match(value, PARTS)):
            parts[key] = say(part[0], **part[1])
        if key == "name":
            name = _match(value, NAMES)
            if name is None:  # of an exercise's own check, whose words are not translated: nor is the rest
                return None
            if "place" in name[1]:
                name[1]["place"] = in_words(name[1]["place"].strip("[]"))
            parts[key] = say(name[0], **name[1])
    return say(template, **parts)
