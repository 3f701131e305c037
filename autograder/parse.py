"""A student's code as a syntax tree: what is written to bring a parser down costs no more than honest code."""

from __future__ import annotations

import ast

LONGEST = 200_000  # characters; a tree is hundreds of times as large


def parse_source(source: str) -> ast.Module:
    """`ast.parse`, which can go wrong in several ways. Raises SyntaxError alone, without a line where it knows none."""
    if len(source) > LONGEST:
        raise SyntaxError(f"{len(source)} characters, more than the {LONGEST} allowed")
    try:
        return ast.parse(source)
    except (RecursionError, MemoryError):
        raise SyntaxError("too deeply nested") from None
    except ValueError as error:  # a null byte, or half a character
        raise SyntaxError(str(error)) from None
