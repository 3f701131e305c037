"""Parses student code safely: code that is made to crash the parser costs no more than honest code."""

from __future__ import annotations

import ast

LONGEST = 200_000  # characters; a tree is hundreds of times as large


def parse_source(source: str) -> ast.Module:
    """`ast.parse`, whose various failures all become SyntaxError, with a line if it is known."""
    if len(source) > LONGEST:
        raise SyntaxError(f"{len(source)} characters, more than the {LONGEST} allowed")
    try:
        return ast.parse(source)
    except (RecursionError, MemoryError):
        raise SyntaxError("too deeply nested") from None
    except ValueError as error:  # a null byte, or a lone surrogate
        raise SyntaxError(str(error)) from None
