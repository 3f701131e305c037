"""A program as lines that can be put in order: whole statements or their headers, each with its level of indentation.

What Python calls a logical line is one line here, however many rows it takes; comments and blank rows belong to none.
"""

from __future__ import annotations

import io
import tokenize
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

INDENT = 4  # columns of a level
BETWEEN = (tokenize.NL, tokenize.COMMENT, tokenize.ENDMARKER)  # tokens that belong to no line
CONTINUES = ("elif ", "else:", "except", "finally:", "case ")  # begins a part of the statement above it
DEFINES = ("def ", "async def ", "class ", "@")
IMPORTS = ("import ", "from ")


class CannotSplit(ValueError):
    """A program whose lines cannot be moved; the message says why."""


@dataclass(frozen=True)
class CodeLine:
    """A line without its indentation, and the rows that it takes (from 0 on, `end` excluded)."""

    text: str
    level: int
    start: int
    end: int

    @property
    def is_import(self) -> bool:
        """Whether it imports something."""
        return self.text.startswith(IMPORTS)


def split(program: str) -> list[CodeLine]:
    """The lines of a program. Raises CannotSplit if a string goes on over several rows."""
    rows, found, level = program.splitlines(), list[CodeLine](), 0
    first: tokenize.TokenInfo | None = None
    for token in tokenize.generate_tokens(io.StringIO(program).readline):
        if token.type in (tokenize.INDENT, tokenize.DEDENT):
            level += 1 if token.type == tokenize.INDENT else -1
        elif token.type == tokenize.NEWLINE and first is not None:
            text = _without_indentation(rows[first.start[0] - 1 : token.start[0]], first.start[1])
            found.append(CodeLine(text, level, first.start[0] - 1, token.start[0]))
            first = None
        elif token.type not in BETWEEN:
            first = first or token
            if token.start[0] != token.end[0]:
                raise CannotSplit(f"a string goes on over rows {token.start[0]} to {token.end[0]}")
    return found


def _without_indentation(rows: Sequence[str], columns: int) -> str:
    first, *others = rows
    return "\n".join([first[columns:], *(row.removeprefix(" " * columns) for row in others)]).rstrip()


def indent(text: str, level: int) -> str:
    """A line's text at this level."""
    return "\n".join(" " * (INDENT * level) + row for row in text.split("\n"))


def suites(lines: Sequence[CodeLine]) -> Iterator[tuple[int, int]]:
    """Start and end of each run of lines that belong together: the program without its imports, then each body.

    A definition that stands alone is no run, since its header is given to students.
    """
    begin = next((n for n, line in enumerate(lines) if not line.is_import), len(lines))
    starts = [begin, *(n + 1 for n in range(begin, len(lines) - 1) if lines[n + 1].level > lines[n].level)]
    for start in starts:
        end = next((n for n in range(start, len(lines)) if lines[n].level < lines[start].level), len(lines))
        if len(statements(lines, start, end)) > 1 or not lines[start].text.startswith(DEFINES):
            yield start, end


def statements(lines: Sequence[CodeLine], start: int, end: int) -> list[tuple[int, int]]:
    """Start and end of each statement of a run; decorators belong to what they decorate."""
    begins: list[int] = []
    for n in range(start, end):
        decorated = n > start and lines[n - 1].text.startswith("@") and lines[n - 1].level == lines[start].level
        if lines[n].level == lines[start].level and not lines[n].text.startswith(CONTINUES) and not decorated:
            begins.append(n)
    return list(zip(begins, [*begins[1:], end], strict=True))
