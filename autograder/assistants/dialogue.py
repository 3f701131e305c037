"""A tutor in a chat, without a language model: it reads a message, asks the MCP server, and tells what came back.

It knows nothing but the server's answers, which `withhold` has passed, and sentences of its own; it does not repeat
what it was told. So it cannot be talked into a solution: there is none in its reach.
"""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable
from typing import Any

from autograder.api import HINTS
from autograder.exercises import registry
from autograder.exercises.contracts import MARK
from autograder.feedback.words import SIGNS, line_of

Ask = Callable[
    [str, dict[str, Any]], Awaitable[tuple[bool, Any]]
]  # tool and arguments -> whether refused, what is said

BLOCK = re.compile(r"```[^\n`]*\r?\n(.*?)(?:\r?\n```|\Z)", re.DOTALL)
ID = re.compile(rf"[a-z][a-z0-9_]*\.[a-z][a-z0-9_]*(?:{MARK}\w+)?")
HINT = re.compile(r"\b(hints?|help|stuck|next step|indices?|aide|bloqué)\b", re.IGNORECASE)
HISTORY = re.compile(r"\b(history|tried|historique|essais)\b", re.IGNORECASE)
SOLUTION = re.compile(r"\b(solutions?|answers?|write it|code for|reference|réponses?|corrigé)\b", re.IGNORECASE)
NO_SOLUTION = (
    "I have no solutions, and nothing that I can ask gives any. You write the code; I can check it and help a step at "
    "a time."
)
WHAT_I_DO = """\
- Name an exercise, such as `masks.causal`, and I show what is asked.
- Send your code in a block of three backquotes, and I check it.
- Say *hint* for the next step of help with the code that was checked last.
- Say *history* for what was tried before.

The instructor can read these requests."""
WHICH = "Which exercise is it? Name it, such as `masks.causal`."


class Dialogue:
    """One chat. It remembers which exercise is spoken of, and which step of help comes next."""

    def __init__(self, ask: Ask) -> None:
        self._ask, self._known = ask, {exercise.id for exercise in registry.exercises()}
        self._exercise, self._level = "", 1

    async def reply(self, message: str) -> str:
        """What to say to the message, in Markdown."""
        code, words = BLOCK.search(message), BLOCK.sub(" ", message)
        named = next((name for name in ID.findall(words) if name.partition(MARK)[0] in self._known), "")
        if named and named != self._exercise:
            self._exercise, self._level = named, 1
        if code:
            return await self._check(code[1])
        if HISTORY.search(words):
            return await self._history()
        if HINT.search(words) and self._exercise:
            return await self._hint()
        if SOLUTION.search(words):
            return f"{NO_SOLUTION}\n\n{await self._show() if named else WHAT_I_DO}"
        return await self._show() if named else WHAT_I_DO

    async def _show(self) -> str:
        refused, found = await self._ask("exercise", {"exercise": self._exercise})
        if refused:
            return str(found)
        head = f"**{found['title']}** (`{found['exercise']}`), {found['points']:g} points"
        return f"{head}\n\n{_block(found['code'], 'python')}\n\nWrite it, and send it to me to be checked."

    async def _check(self, code: str) -> str:
        if not self._exercise:
            return WHICH
        refused, found = await self._ask("check", {"exercise": self._exercise, "code": code})
        if refused:
            return str(found)
        self._level = 2 if found.get("hint") else 1  # a check gives the first step itself
        lines = [f"**{found['status'].replace('_', ' ')}**: {found['score']:g} of {found['max_score']:g}"]
        lines += [f"- {SIGNS[one['status']]} {one['name']}" for one in found["checks"]]
        lines += ["", str(found["hint"])] if found.get("hint") else []
        lines += ["", _block(found["reason"])] if found.get("reason") else []
        lines += ["", "Say *hint* for the next step of help."] if found.get("more") else []
        return "\n".join(lines)

    async def _hint(self) -> str:
        refused, found = await self._ask("hint", {"exercise": self._exercise, "level": min(self._level, HINTS)})
        if refused:
            return str(found)
        self._level = min(self._level + 1, HINTS)
        parts = [f"Step {found['level']} of help: {found['what']}."]
        parts += [str(found["hint"])] if found.get("hint") else []
        parts += [f"- {one['name']}: {one['message']}" for one in found.get("checks") or () if one.get("message")]
        if found.get("line"):
            parts.append(f"The first line that goes wrong is line {found['line']}.")
        parts += [line_of(found)] if line_of(found) else []
        if found.get("counterexample"):
            parts.append(_block(json.dumps(found["counterexample"], indent=1, ensure_ascii=False), "json"))
        return "\n\n".join(parts)

    async def _history(self) -> str:
        refused, found = await self._ask("history", {"exercise": self._exercise})
        if refused:
            return str(found)
        lines = [f"- {one['exercise']}: {one['status']}, {one['score']:g} of {one['max_score']:g}"
                 for one in found["attempts"] if one["tool"] == "check" and "status" in one]  # fmt: skip
        return "\n".join(lines) or "Nothing was checked yet."


def _block(text: str, language: str = "") -> str:
    """The text as a block of code, whatever it contains: the fence is longer than any in it."""
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`+", text)), default=0))
    return f"{fence}{language}\n{text}\n{fence}"
