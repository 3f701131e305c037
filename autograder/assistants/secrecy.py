"""The last filter of every answer to an assistant: it removes all lines of solutions.

The box of an exercise contains neither its reference nor its right answers, so the checked code cannot read them. It
does contain the parts of earlier units that the exercise builds on, and code could print those. Texts are compared
without spaces and quotation marks, so that neither `repr` nor another layout hides a line.
"""

from __future__ import annotations

import ast
import re
import threading
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from autograder.api import Exercise
from autograder.assistants.statement import StatementError, definition, parse, statement_of
from autograder.exercises import registry
from autograder.exercises.answers import answers

WITHHELD = "[a line of a solution was withheld]"
SHORTEST = 12  # characters; shorter lines, such as `return x + y`, reveal nothing
LONGEST = 2000  # characters of one text, as texts may contain output of a student's code
_WORDS = re.compile(r"\w+:?")  # `return logits`, squeezed: ordinary sentences contain that, too
_NOISE = re.compile(r"[\s'\"\\]+")
_READING = threading.Lock()


def squeeze(text: str) -> str:
    """The text without spaces, quotation marks and other layout."""
    return _NOISE.sub("", text)


def solution_lines() -> frozenset[str]:
    """Every revealing line of every reference and of every collected right answer, squeezed; read once, while other
    threads wait.

    A line that the course itself shows, in a lesson or in a released notebook, is not secret.
    """
    with _READING:
        return _read_solution_lines()


@lru_cache(maxsize=1)
def _read_solution_lines() -> frozenset[str]:
    shown = "".join(squeeze(text) for exercise in registry.exercises() for text in _shown(exercise))
    lines = {line for exercise in registry.exercises() for line in _lines_of(exercise)}
    distinctive = (line for line in lines if len(line) >= SHORTEST and not _WORDS.fullmatch(line))
    return frozenset(line for line in distinctive if line not in shown)


def _shown(exercise: Exercise) -> tuple[str, str]:
    try:
        statement = statement_of(exercise)
    except StatementError:
        return "", ""
    return statement.lesson, statement.code


def _lines_of(exercise: Exercise) -> Iterator[str]:
    for reference in exercise.references:
        try:
            yield from code_lines(definition(reference))
        except StatementError:  # an answer cannot read it either
            continue
    for path in answers(exercise, "right"):
        yield from code_lines(parse(path.read_text(encoding="utf-8")))


def code_lines(tree: ast.AST) -> Iterator[str]:
    """The lines of every body in the tree, squeezed, without docstrings."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Module):
            for part in node.body:
                if not (isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant)):
                    yield from map(squeeze, ast.unparse(part).splitlines())


def withhold(value: Any, own: str = "") -> Any:
    """A JSON value without the lines that contain a line of a solution; texts are cut to LONGEST.

    own: the submitted code, whose lines are not removed.
    """
    return _withhold(value, squeeze(own))


def _withhold(value: Any, own: str) -> Any:
    if isinstance(value, str):
        return _text(value, own)
    if isinstance(value, list | tuple):
        kept = [_withhold(one, own) for one in value]
        whole = "".join(one for one in kept if isinstance(one, str))
        return [WITHHELD] if _reveals_solution(whole, own) else kept  # a line may be split over the entries of a list
    if isinstance(value, dict):
        return {_text(str(key), own): _withhold(one, own) for key, one in value.items()}
    return value


def _text(text: str, own: str) -> str:
    if not _reveals_solution(text, own):
        return text if len(text) <= LONGEST else f"{text[:LONGEST]} …"
    kept = "\n".join(WITHHELD if _reveals_solution(line, own) else line for line in text.splitlines())
    return WITHHELD if _reveals_solution(kept, own) else kept[:LONGEST]


def _reveals_solution(text: str, own: str) -> bool:
    squeezed = squeeze(text)
    return len(squeezed) >= SHORTEST and any(line in squeezed and line not in own for line in solution_lines())
