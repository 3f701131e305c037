"""Parses student code safely: code that is made to crash the parser costs no more than honest code."""

from __future__ import annotations

import ast
import io
import re
import symtable
import tokenize
import warnings
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import lru_cache
from typing import Any

LONGEST = 200_000  # characters; a tree is hundreds of times as large
TOKENIZED = 300_000  # characters that are split into tokens, at most and in all, to find the magics of a cell
MOST_INSIDE = 50  # lines within texts and brackets that look like magics, in a cell that has magics, too
LINE_ENDS = re.compile(r"\r\n|\r|\n")  # Python's
_PASS = re.compile(r"[%!].*", re.S)
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
IMPORTS = (ast.Import, ast.ImportFrom)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)  # their names are their own

_IN_PLACE_METHODS = frozenset({
    "add", "append", "appendleft", "clear", "difference_update", "discard", "extend", "extendleft", "insert",
    "intersection_update", "pop", "popitem", "popleft", "remove", "reverse", "setdefault", "sort",
    "symmetric_difference_update", "update",
})  # fmt: skip


def parse_source(source: str) -> ast.Module:
    """`ast.parse`, whose various failures all become SyntaxError, with a line if it is known.

    Python warns of doubtful literals, with a line for each and their characters as they are: no log shows them.
    """
    if len(source) > LONGEST:
        raise SyntaxError(f"{len(source)} characters, more than the {LONGEST} allowed")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(source)
    except (RecursionError, MemoryError):
        raise SyntaxError("too deeply nested") from None
    except ValueError as error:  # a null byte, or a lone surrogate
        raise SyntaxError(str(error)) from None


def symbol_tables(source: str) -> list[symtable.SymbolTable]:
    """The symbol tables of all scopes of the source, that of the module first. Raises SyntaxError as `parse_source`."""
    parse_source(source)  # limits its length
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tables = [symtable.symtable(source, "<source>", "exec")]
    except (RecursionError, MemoryError):
        raise SyntaxError("too deeply nested") from None
    for table in tables:  # which grows meanwhile
        tables += table.get_children()
    return tables


def same_code(one: Any, other: Any) -> bool:
    """Whether two nodes, lists of nodes or values in their fields are the same code, on whatever lines it stands."""
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same_code, one, other))
    if isinstance(one, ast.AST):
        return all(same_code(getattr(one, name, None), getattr(other, name, None)) for name in one._fields)
    return bool(one == other)


def stored_names(node: ast.AST) -> set[str]:
    """The variables that code assigns to, in whatever is inside it."""
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}


def is_in_place_method(method: str) -> bool:
    """Whether a method of this name changes what it is called on: those of Python's collections, and torch's `add_`."""
    return method in _IN_PLACE_METHODS or (method.endswith("_") and not method.startswith("_"))


@lru_cache(maxsize=64)
def without_magics(source: str) -> str:
    """The cell without the lines that only IPython understands, which are left empty.

    A line that begins with `%` within a text or a bracket is Python's, and stays: what is parsed must be what runs. So
    the lines are Python's too, which ends none at a form feed or another separator. A cell in which it cannot be told
    what is whose is left as it is, and does not parse.
    """
    lines = LINE_ENDS.split(source)
    lines = lines[:-1] if not lines[-1] else lines
    magics = {row for row, line in enumerate(lines) if line.lstrip().startswith(("%", "!"))}
    whole = "\n".join(lines)
    if not magics or len(source) > LONGEST or is_python(whole):
        return whole
    for _ in range(1 + min(MOST_INSIDE, TOKENIZED // len(source))):
        begins = _statement_rows([_PASS.sub("pass", one) if row in magics else one for row, one in enumerate(lines)])
        if not magics - begins:
            return "\n".join("" if row in magics else line for row, line in enumerate(lines))
        magics.remove(min(magics - begins))  # what it holds may end the text or bracket: those below are looked at anew
    return whole


def is_python(source: str) -> bool:
    """Whether Python can read the source."""
    try:
        parse_source(source)
    except SyntaxError:
        return False
    return True


def _statement_rows(lines: list[str]) -> set[int]:
    """The rows, from 0, on which a statement begins that no other is before, as far as there are tokens: what looks
    like a magic may have ended a text, which then never ends."""
    found, fresh = set[int](), True
    with suppress(tokenize.TokenError, SyntaxError):
        for token in tokenize.generate_tokens(io.StringIO("\n".join([*lines, ""])).readline):
            if token.type in (tokenize.NL, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT):
                continue
            if fresh:
                found.add(token.start[0] - 1)
            fresh = token.type == tokenize.NEWLINE
    return found


def defined_names(source: str, imports: bool = False, classes_only: bool = False) -> set[str]:
    """The names that a cell defines, in any branch of it, but none inside a function, class or comprehension.

    imports: those that it imports, too; classes_only: those of classes. Empty for a cell that does not parse, which
    stops before it defines anything.
    """
    try:
        found = list(bindings(parse_source(source).body))
    except SyntaxError:
        return set()
    if classes_only:
        return {name for name, node in found if isinstance(node, ast.ClassDef)}
    return {name for name, node in found if imports or not isinstance(node, IMPORTS)}


def bindings(statements: Iterable[ast.stmt]) -> Iterator[tuple[str, ast.AST]]:
    """Each name that running these statements as a module can define, with the node that does."""
    pending: list[tuple[ast.AST, bool]] = [(statement, False) for statement in statements]
    while pending:
        node, hidden = pending.pop()  # hidden: what a comprehension stores in, of which only `:=` stores outside
        if not (hidden and isinstance(node, ast.Name)):
            yield from ((name, node) for name in _names_bound_by(node))
        if isinstance(node, ast.AnnAssign) and node.value is None:  # `x: int` defines nothing
            continue
        if not isinstance(node, (*DEFINITIONS, ast.Lambda)):
            hidden = isinstance(node, COMPREHENSIONS) or (hidden and not isinstance(node, ast.NamedExpr))
            pending += ((part, hidden) for part in ast.iter_child_nodes(node))


def _names_bound_by(node: ast.AST) -> list[str]:
    if isinstance(node, DEFINITIONS):
        return [node.name]
    if isinstance(node, IMPORTS):
        return [alias.asname or alias.name.partition(".")[0] for alias in node.names]
    if isinstance(node, ast.Name):
        return [node.id] if isinstance(node.ctx, ast.Store) else []
    name = getattr(node, "rest" if isinstance(node, ast.MatchMapping) else "name", None)
    return [name] if name and isinstance(node, ast.MatchAs | ast.MatchStar | ast.MatchMapping) else []
