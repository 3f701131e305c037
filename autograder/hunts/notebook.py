"""`hunt("masks.causal")` in a notebook: the code and its symptom as a card, and a verdict on what is handed in.

The code is drawn and run in a process of its own, so that the kernel loads nothing and its random numbers stay as they
are.
"""

from __future__ import annotations

import ast
import inspect
import itertools
import linecache
import operator
import sys
import tempfile
import textwrap
from collections.abc import Callable, Iterable, Sequence
from html import escape
from pathlib import Path
from types import CodeType
from typing import Any

from autograder.console.ask import BROWSER, ask
from autograder.exercises.parse import parse_source
from autograder.feedback.translate import say
from autograder.hunts.card import task_html, verdict_html
from autograder.hunts.terminal import task_text, verdict_text

CALL = "h.check(lines=[3], test=my_test, repair=my_repair)  # {what}"
NO_PROCESS = "A hunt runs in a process of its own, which Python in a browser tab cannot start: leave it out here."
NOTHING_YET = "Nothing is handed in yet: write the lines, a test or a repair into the cell above."
NO_LINES = "The suspected lines are whole numbers, one such as 3 or several such as [3, 5], and not {given}."
WHAT = "functions or classes of this notebook, or source as text"

LONGEST_SHOWN = 60  # characters of what is refused

Lines = int | Iterable[int]  # the number of one line or those of several
Source = str | Callable[..., Any] | Iterable[Callable[..., Any]]  # code as text, or a function or class, or several


class HuntFailed(RuntimeError):
    """There is no hunt or no verdict; the message says why."""


def hunt(exercise: str, seed: int = 0, student: str | None = None, faults: int = 1) -> NotebookHunt | NotebookMessage:
    """The hunt that is drawn for the student, by default the current user, and this seed. Raises HuntFailed.

    exercise: its id, or a page's such as `page.gpt2`. As the last line of a cell the hunt is shown as a card. In a
    browser tab there is none, and a sentence says so.
    """
    if sys.platform == BROWSER:
        return NotebookMessage(say(NO_PROCESS))
    drawn = [exercise, "--seed", str(seed), "--faults", str(faults)]
    drawn += [] if student is None else ["--student", student]
    return NotebookHunt(ask(["hunts", "show", *drawn, "--json"], HuntFailed), drawn)


class NotebookHunt:
    """A hunt in a notebook. `code` is the faulty code; `another()` draws the next hunt, as often as one likes."""

    def __init__(self, task: dict[str, Any], drawn: list[str]) -> None:
        self._task, self._drawn = task, drawn
        self.code: str = task["code"]

    def another(self) -> NotebookHunt | NotebookMessage:
        """The hunt of the next seed, for the same subject and student. Raises HuntFailed."""
        given = dict(zip(self._drawn[1::2], self._drawn[2::2], strict=True))
        student, faults = given.get("--student"), int(given["--faults"])
        return hunt(self._drawn[0], int(given["--seed"]) + 1, student, faults)

    def check(
        self, repair: Source | None = None, test: Source | None = None, lines: Lines | None = None
    ) -> NotebookVerdict:
        """The verdict on the repaired code, the test and the numbers of the suspected lines. Raises HuntFailed.

        A function or class is handed in with the imports of the hunt's code.
        """
        if repair is None and test is None and lines is None:
            raise HuntFailed("nothing is handed in: give lines, test or repair")
        arguments = ["hunts", "check", *self._drawn, "--json", "--trust"]
        arguments += [] if lines is None else [f"--lines={','.join(map(str, _numbers(lines)))}"]
        with tempfile.TemporaryDirectory(prefix="tfkit-hunt-") as folder:
            for name, source in (("repair", repair), ("test", test)):
                if source is not None:
                    file = Path(folder) / f"{name}.py"
                    file.write_text(self._text(source), encoding="utf-8", errors="replace")
                    arguments += [f"--{name}", str(file)]
            return NotebookVerdict(ask(arguments, HuntFailed))

    def hand_in(
        self, lines: Callable[[], Lines], test: Callable[..., Any], repair: Callable[[], str]
    ) -> NotebookVerdict | NotebookMessage:
        """The verdict on what the functions of a lesson's cell give; those that are still stubs are left out."""
        suspected, code = _written(lines), _written(repair)
        wrote = test if not _is_stub(_source_of(test)) else None
        if suspected is code is wrote is None:
            return NotebookMessage(say(NOTHING_YET))
        return self.check(code, wrote, suspected)

    def _text(self, source: Source) -> str:
        if isinstance(source, str):
            return source
        parts = [source] if callable(source) else list(source)
        return "\n\n".join([_imports(self.code), *map(_source_of, parts)])

    def _repr_html_(self) -> str:
        return task_html(self._task, CALL.format(what=say(WHAT)))

    def __repr__(self) -> str:
        return task_text(self._task)


def _numbers(lines: Any) -> list[int]:
    """The numbers of lines, or of the one, that a student gave. Raises HuntFailed."""
    try:
        several = lines if isinstance(lines, Iterable) else [lines]
        return [operator.index(line) for line in several]
    except TypeError:
        raise HuntFailed(say(NO_LINES, given=repr(lines)[:LONGEST_SHOWN])) from None


def _written(function: Callable[[], Any]) -> Any:
    """What the function gives; None for a stub."""
    try:
        return function()
    except NotImplementedError:
        return None


def _is_stub(source: str) -> bool:
    last = ast.parse(source).body[-1]
    return isinstance(last, ast.FunctionDef) and ast.unparse(last.body[-1]).startswith("raise NotImplementedError")


class NotebookMessage:
    """A sentence in place of a hunt or of a verdict; it takes what is handed in, and says the same again."""

    code = ""

    def __init__(self, text: str) -> None:
        self._text = text

    def another(self) -> NotebookMessage:
        """Itself."""
        return self

    def check(self, *_: object, **__: object) -> NotebookMessage:
        """Itself."""
        return self

    def hand_in(self, *_: object) -> NotebookMessage:
        """Itself."""
        return self

    def _repr_html_(self) -> str:
        return f"<p>{escape(self._text)}</p>"

    def __repr__(self) -> str:
        return self._text


class NotebookVerdict:
    """The verdict on what was handed in for a hunt; as the last line of a cell it is shown as a card."""

    def __init__(self, found: dict[str, Any]) -> None:
        self.found = found

    @property
    def score(self) -> float:
        """The points."""
        return float(self.found["score"])

    def _repr_html_(self) -> str:
        return verdict_html(self.found)

    def __repr__(self) -> str:
        return verdict_text(self.found)


def _imports(code: str) -> str:
    nodes = [node for node in ast.parse(code).body if isinstance(node, ast.Import | ast.ImportFrom)]
    return "\n".join(map(ast.unparse, nodes))


def _source_of(thing: Callable[..., Any]) -> str:
    if isinstance(thing, type) and (found := _class_of_cell(thing)):
        return found
    try:
        return textwrap.dedent(inspect.getsource(thing))
    except (OSError, TypeError):
        name = getattr(thing, "__name__", thing)
        raise HuntFailed(f"the source of {name} cannot be found: hand in its code as text") from None


def _class_of_cell(thing: type) -> str:
    """The source of a class that a cell defined, which `inspect` looks for in a file of `__main__`; "" if none did.

    Its methods know their cell. A class without methods of its own is looked for in what IPython ran, latest first.
    """
    if thing.__module__ != "__main__":
        return ""
    codes = [code for member in vars(thing).values() if (code := _code_of(member)) is not None]
    own = ((linecache.getlines(code.co_filename), code.co_firstlineno) for code in codes)
    history = getattr(sys.modules["__main__"], "In", [])
    ran = ((str(cell).splitlines(keepends=True), None) for cell in reversed(history))
    found = (_class_in(lines, thing.__qualname__, at) for lines, at in itertools.chain(own, ran))
    return next(filter(None, found), "")


def _code_of(member: Any) -> CodeType | None:
    """The code of a method, whatever it is wrapped in."""
    member = member.fget if isinstance(member, property) else getattr(member, "__func__", member)
    code = getattr(inspect.unwrap(member) if callable(member) else member, "__code__", None)
    return code if isinstance(code, CodeType) else None


def _class_in(lines: Sequence[str], name: str, at: int | None) -> str:
    """The last class of this qualified name in a cell, or the one with line `at`; "" if there is none."""
    try:
        body = parse_source("".join(lines)).body
    except SyntaxError:  # a cell that did not run
        return ""
    for node in reversed(_classes(body, name.split("."))):
        first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
        if at is None or first <= at <= (node.end_lineno or first):
            return textwrap.dedent("".join(lines[first - 1 : node.end_lineno]))
    return ""


def _classes(body: Sequence[ast.stmt], path: Sequence[str]) -> list[ast.ClassDef]:
    """The classes that `path` names, from the outermost one on."""
    found = [node for node in body if isinstance(node, ast.ClassDef) and node.name == path[0]]
    return found if len(path) == 1 else [inner for node in found for inner in _classes(node.body, path[1:])]
