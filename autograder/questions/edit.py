"""Edits of a student's text at one expression: the same change in the syntax tree and in the text itself."""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Iterator

from autograder.exercises.parse import parse_source
from autograder.questions.inside import NAME

Span = tuple[int, int, int, int]  # first line and column, last line and column, as `ast` has them: columns in bytes
LOOSE = (ast.BinOp, ast.BoolOp, ast.Compare, ast.UnaryOp, ast.IfExp, ast.Lambda, ast.NamedExpr)
NUMBERS = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?![\w.])")


def span_of(node: ast.AST) -> Span:
    """Where a node stands."""
    places = (getattr(node, name, 0) or 0 for name in ("lineno", "col_offset", "end_lineno", "end_col_offset"))
    first, column, last, end = places
    return first, column, last, end


def source_of(text: str, span: Span) -> str:
    """The text of an expression with its own line breaks; "" for a place that the text has not."""
    first, column, last, end = span
    lines = [line.encode() for line in text.splitlines()[first - 1 : last]]
    if not lines:
        return ""
    lines[-1] = lines[-1][:end]
    lines[0] = lines[0][column:]
    return "\n".join(line.decode(errors="replace") for line in lines)


def in_one_line(text: str, span: Span) -> str:
    """The text of an expression, in one line."""
    return " ".join(line.strip() for line in source_of(text, span).split("\n"))


def with_text(text: str, span: Span, new: str) -> str:
    """The text with another one in the place of an expression."""
    first, column, last, end = span
    lines = text.splitlines()
    head, tail = lines[first - 1].encode()[:column].decode(), lines[last - 1].encode()[end:].decode()
    return "\n".join([*lines[: first - 1], f"{head}{new}{tail}", *lines[last:]]) + "\n"


def with_variable(text: str, span: Span) -> str:
    """The text in which the expression's value is also put into a variable, which tracing sees."""
    return with_text(text, span, f"({NAME} := {source_of(text, span)})")


class _Noting(ast.NodeTransformer):
    def __init__(self, span: Span) -> None:
        self.span, self.done = span, False

    def visit(self, node: ast.AST) -> ast.AST:
        """Wraps the outermost expression that stands there."""
        if isinstance(node, ast.expr) and not self.done and span_of(node) == self.span:
            self.done = True
            return ast.Call(ast.Name("_q_note", ast.Load()), [node], [])
        return self.generic_visit(node)


def noting(text: str, span: Span) -> str:
    """The program in which this expression's value is noted, written anew from its syntax tree."""
    wrapper = _Noting(span)
    tree = wrapper.visit(parse_source(text))
    return ast.unparse(ast.fix_missing_locations(tree)) if wrapper.done else text


def edits(text: str, changed: Iterator[tuple[ast.Module, ast.AST, ast.AST, ast.AST]]) -> Iterator[tuple[str, str, int]]:
    """(program from the tree, edited text, line) of each change of an expression within a line.

    changed: the tree with a change made in it, the node that was there, what takes its place, and the parent. Only
    where both ways to write the change are the same program.
    """
    for tree, node, other, parent in changed:
        span = span_of(node)
        if span[0] != span[2] or not isinstance(node, ast.expr) or not isinstance(other, ast.expr):
            continue
        inner = ast.unparse(other)
        inner = f"({inner})" if isinstance(other, LOOSE) and isinstance(parent, ast.expr) else inner
        edited = with_text(text, span, inner)
        try:
            same = ast.dump(parse_source(edited)) == ast.dump(tree)
        except (SyntaxError, ValueError):
            continue
        if same:
            yield ast.unparse(ast.fix_missing_locations(copy.deepcopy(tree))), edited, span[0]


def line_text(text: str, line: int) -> str:
    """A line without its indentation."""
    lines = text.splitlines()
    return lines[line - 1].strip() if 0 < line <= len(lines) else ""


def plain_lines(text: str) -> set[int]:
    """The lines that are one statement, which returns a value or gives it a name: all their steps are expressions."""
    found = set()
    for node in ast.walk(parse_source(text)):
        named = isinstance(node, ast.Assign) and all(isinstance(one, ast.Name | ast.Tuple) for one in node.targets)
        if (named or isinstance(node, ast.Return)) and node.lineno == node.end_lineno:  # type: ignore[attr-defined]
            found.add(node.lineno)  # type: ignore[attr-defined]
    return found


def literals(text: str) -> set[float]:
    """The numbers that are written in a text."""
    return {float(number) for number in NUMBERS.findall(text)}


def names_in(text: str) -> set[str]:
    """The words of a text."""
    return set(re.findall(r"[A-Za-z_]\w*", text))
