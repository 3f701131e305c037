"""The code in what a model replies: its last Python block that defines a symbol, after what that needs of the others.

As a reader would put the blocks together, and as Python would run them: of two definitions the last one counts, right
or wrong. An excerpt in front of the answer, or a use of it behind, is not a part of it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from autograder.assistants.statement import PARSING
from autograder.exercises.parse import (
    DEFINITIONS,
    IMPORTS,
    bindings,
    parse_source,
    same_code,
    symbol_tables,
    without_magics,
)

PYTHON = ("", "py", "python", "python3")
THOUGHT = "</think>"  # the end of what some models write before their reply
FURTHEST = 3  # columns that the end of a block may be to the right of its beginning, as in CommonMark
_FENCE = re.compile(r"^\s*(`{3,}(?=[^`]*$)|~{3,})\s*([\w+-]*)")
_FUTURE = re.compile(r"^from __future__ import .*\n?", re.M)
_STUBS = "...", "pass", "raise NotImplementedError", "raise NotImplementedError()", "super().__init__()"
_STUB_NODES = parse_source("\n".join(_STUBS)).body


@dataclass(frozen=True)
class _Part:
    """An import, a function or a class of a block; or a whole block, for the values that it computes."""

    code: str
    defines: frozenset[str]
    reads: frozenset[str] = frozenset()  # global names


def code_of(reply: str, symbols: Sequence[str]) -> str:
    """The code of a reply: the last Python block that defines a symbol, after what it needs of those before it. All
    Python blocks, one after the other, where that does not define all symbols; the whole reply where it has no block.

    What a model thought before its reply is left out, and so are blocks that only repeat the signatures.
    """
    said = reply.rpartition(THOUGHT)[2]
    blocks = [code for language, code in _blocks(said) if language in PYTHON]
    with PARSING:
        return _together(blocks, symbols) if blocks else said


def _together(blocks: list[str], symbols: Sequence[str]) -> str:
    blocks = [code for code in blocks if not _is_signature(code, symbols)] or blocks
    defined = [_symbols_in(code, symbols) for code in blocks]
    last = max((number for number, names in enumerate(defined) if names), default=0)
    if not set(symbols) <= set().union(*defined):
        return "\n\n".join(blocks)
    return _in_order([*_needed_by(blocks[last], blocks[:last], symbols), blocks[last]])


def _symbols_in(code: str, symbols: Sequence[str]) -> set[str]:
    """The symbols that a block defines, which it does not do by an import; by its looks where it does not parse."""
    try:
        found = bindings(_parse(code).body)
    except SyntaxError:
        return {symbol for symbol in symbols if _seems_to_define(code, symbol)}
    return {name for name, node in found if not isinstance(node, IMPORTS)} & set(symbols)


def _parse(code: str) -> ast.Module:
    return parse_source(without_magics(code))


def _seems_to_define(code: str, symbol: str) -> bool:
    return (
        re.search(rf"^(?:(?:async )?def|class) {re.escape(symbol)}\b|^{re.escape(symbol)} *=", code, re.M) is not None
    )


def _is_signature(code: str, symbols: Sequence[str]) -> bool:
    """Whether a block only says what is to be written: all its functions are stubs, and it has nothing else."""
    try:
        body = _parse(code).body
    except SyntaxError:
        return False
    own = [node for node in body if isinstance(node, DEFINITIONS)]
    rest = [node for node in body if not isinstance(node, (*DEFINITIONS, *IMPORTS))]
    return all(map(_is_stub, own)) and not rest and any(node.name in symbols for node in own)


def _is_stub(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> bool:
    """A class without methods may inherit all that it needs, unless it says `...`."""
    parts = [part for part in node.body if isinstance(part, DEFINITIONS)]
    others = [part for part in node.body if part not in parts and not _is_text(part)]
    inherits = isinstance(node, ast.ClassDef) and not any(same_code(part, _STUB_NODES[0]) for part in others)
    is_empty = all(any(same_code(part, stub) for stub in _STUB_NODES) for part in others)
    return is_empty and all(map(_is_stub, parts)) and (bool(parts) or not inherits)


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _needed_by(code: str, before: Sequence[str], symbols: Sequence[str]) -> list[str]:
    """What the blocks before it define of the symbols and of the names that the code reads, and what that needs."""
    parts = {(n, m): part for n, block in enumerate(before) for m, part in enumerate(_parts(block, symbols))}
    own = frozenset[str]().union(*(part.defines for part in _parts(code, symbols)[1:]))
    defining: dict[str, list[tuple[int, int]]] = {}
    for at, part in parts.items():
        for name in part.defines:
            defining.setdefault(name, []).append(at)
    pending, taken = [frozenset({*symbols, *_globals_in(code), "*"}) - own], set[tuple[int, int]]()
    while pending:
        more = {at for name in pending.pop() for at in defining.pop(name, ())} - taken
        taken |= more
        pending += [parts[at].reads - own for at in more]
    return [parts[n, m].code for n, m in sorted(taken) if m == 0 or (n, 0) not in taken]


def _parts(block: str, symbols: Sequence[str]) -> list[_Part]:
    """The block as a whole, then its imports and definitions, which can be run without the rest of it."""
    try:
        body = _parse(block).body
    except SyntaxError:
        return [_Part(block, frozenset(_symbols_in(block, symbols)))]
    alone = [node for node in body if isinstance(node, (*DEFINITIONS, *IMPORTS))]
    rest, lines = [node for node in body if not isinstance(node, (*DEFINITIONS, *IMPORTS))], block.splitlines()
    values = frozenset(name for name, _ in bindings(rest))
    parts = [_Part(block, values, _globals_in(block))]
    for node in alone:
        first = min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", ()))])
        code = "\n".join(lines[first - 1 : node.end_lineno])
        parts.append(_Part(code, frozenset(name for name, _ in bindings([node])), _globals_in(code)))
    return parts


def _globals_in(code: str) -> frozenset[str]:
    """The global names that the code reads; none where it cannot be compiled."""
    try:
        top, *inner = symbol_tables(without_magics(code))
    except SyntaxError:
        return frozenset()
    used = [one for one in top.get_symbols() if one.is_referenced()]
    used += [one for table in inner for one in table.get_symbols() if one.is_referenced() and one.is_global()]
    return frozenset(one.get_name() for one in used)


def _in_order(codes: Sequence[str]) -> str:
    """The codes, one after the other; first what Python wants at the beginning of a file."""
    if len(codes) == 1:
        return codes[0]
    text = "\n\n".join(codes)
    future = list(dict.fromkeys(_FUTURE.findall(text)))
    return "\n".join(["".join(future), _FUTURE.sub("", text)]) if future else text


def _blocks(text: str) -> Iterator[tuple[str, str]]:
    """Language and code of each fenced block; one that never ends, as in a reply that was cut, ends with the text."""
    fence, language, indent, lines = "", "", 0, list[str]()
    for line in text.splitlines():
        found = _FENCE.match(line)
        if not fence and found:
            fence, language, lines = found[1], found[2].lower(), []
            indent = len(line) - len(line.lstrip())
        elif fence and _closes(line, fence, indent):
            yield language, "\n".join(lines)
            fence = ""
        elif fence:
            lines.append(line[min(indent, len(line) - len(line.lstrip())) :])
    if fence:
        yield language, "\n".join(lines)


def _closes(line: str, fence: str, indent: int) -> bool:
    """Whether the line ends the block that this fence began; one inside its code is further to the right."""
    text = line.expandtabs(4)
    mark = text.strip()
    return mark.startswith(fence) and not mark.strip(fence[0]) and len(text) - len(text.lstrip()) <= indent + FURTHEST
