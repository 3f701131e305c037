"""A source file and edits of it: what is not edited keeps its comments and its layout."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

WIDTH = 120
SIMPLE = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.Return, ast.Assert, ast.Raise)
# the line of a statement that a block follows, or the last line of such a statement
BLOCK_HEADER = re.compile(
    r"\s*(?:(def|class|if|for|while|with|elif|else|try|finally|except)\b.*|\)( -> .*)?):\s*(#.*)?$"
)


class Source:
    """A parsed text, with the positions of its nodes. Edits wait until `apply`."""

    def __init__(self, text: str) -> None:
        self.raw, self.tree = text.encode(), ast.parse(text)
        self.nodes: list[ast.AST] = [self.tree]  # in the order of `ast.walk`
        self.parent: dict[ast.AST, ast.AST] = {}
        for node in self.nodes:  # the list grows in the loop
            children = list(ast.iter_child_nodes(node))
            self.parent.update(dict.fromkeys(children, node))
            self.nodes += children
        self.index = {node: index for index, node in enumerate(self.nodes)}
        self.starts = [0]
        for line in text.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line.encode()))
        self.edits: list[tuple[int, int, str]] = []

    def span(self, node: ast.AST) -> tuple[int, int]:
        """Where a node is, in bytes."""
        n: ast.expr = node  # type: ignore[assignment]
        assert n.end_lineno is not None and n.end_col_offset is not None
        return self.starts[n.lineno - 1] + n.col_offset, self.starts[n.end_lineno - 1] + n.end_col_offset

    def text(self, node: ast.AST) -> str:
        """The source of a node."""
        start, end = self.span(node)
        return self.raw[start:end].decode()

    def inside(self, node: ast.AST, kind: type | tuple[type, ...]) -> ast.AST | None:
        """The nearest node of a kind around this one."""
        above = self.parent.get(node)
        while above is not None and not isinstance(above, kind):
            above = self.parent.get(above)
        return above

    def replace(self, node: ast.AST, text: str) -> None:
        """Put a text in place of an expression or of a statement that fills its lines. Parts of an f-string stay:
        before Python 3.12 the parser misplaces them where a string is in several pieces."""
        if not self.inside(node, ast.JoinedStr):
            self.edits.append((*self.span(node), text))

    def lines(self, node: ast.stmt) -> tuple[int, int]:
        """The lines of a statement, in bytes, with its decorators and the comment right above it."""
        first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
        line = self.raw[self.starts[first - 1] : self.starts[first]].decode()
        indent = line[: len(line) - len(line.lstrip())]
        while first > 1:
            above = self.raw[self.starts[first - 2] : self.starts[first - 1]].decode()
            if not above.startswith(indent + "# ") or above.startswith("# ---"):
                break
            first -= 1
        assert node.end_lineno is not None
        return self.starts[first - 1], self.starts[node.end_lineno]

    def remove(self, statement: ast.stmt) -> None:
        """Delete a statement; `tidy` adds a `pass` where a block is left without one."""
        self.edits.append((*self.lines(statement), ""))

    def replace_by_block(self, statement: ast.stmt, body: Sequence[ast.stmt]) -> None:
        """Put the statements of a block in the place of the statement that they are in."""
        if not body:
            return self.remove(statement)
        start, end = self.lines(body[0])[0], self.lines(body[-1])[1]
        text = self.raw[start:end].decode()
        self.edits.append((*self.lines(statement), move_columns(text, statement.col_offset)))
        return None

    def remove_elements(self, elements: Sequence[ast.AST], removed: Sequence[ast.AST]) -> None:
        """Delete some elements of a list in brackets, with their commas."""
        spans = [self.element(each) for each in elements]
        for number, (each, (start, end)) in enumerate(zip(elements, spans, strict=True)):
            if each not in removed:
                continue
            if any(other not in removed for other in elements[number + 1 :]):
                end = spans[number + 1][0]
            elif number:
                start = spans[number - 1][1]
            self.edits.append((start, end, ""))

    def element(self, node: ast.AST) -> tuple[int, int]:
        """Where an element of a list is, with `**` before it and brackets around it."""
        start, end = self.span(node.value if isinstance(node, ast.keyword) and node.arg is None else node)
        if isinstance(node, ast.keyword) and node.arg is None:
            start = self.raw.rindex(b"**", 0, start)
        opens = (b",", b"(", b"=", b":")  # what comes before the element's own brackets
        while (found := self.brackets(start, end)) and self.raw[: found[0]].rstrip().endswith(opens):
            start, end = found
        return start, end

    def brackets(self, start: int, end: int) -> tuple[int, int] | None:
        """Where a pair of brackets that encloses these bytes, and nothing but white space besides, starts and ends."""
        while self.raw[start - 1 : start].isspace():
            start -= 1
        while self.raw[end : end + 1].isspace():
            end += 1
        return (start - 1, end + 1) if self.raw[start - 1 : start] == b"(" and self.raw[end : end + 1] == b")" else None

    def apply(self) -> str:
        """The text with the edits. Of two that overlap, the longer one counts."""
        kept: list[tuple[int, int, str]] = []
        for edit in sorted(self.edits, key=lambda edit: (edit[0] - edit[1], edit[2] != "")):
            if all(edit[1] <= start or end <= edit[0] for start, end, _ in kept) and edit not in kept:
                kept.append(edit)
        raw = self.raw
        for start, end, text in sorted(kept, reverse=True):
            raw = raw[:start] + text.encode() + raw[end:]
        return tidy(raw.decode())


def move_columns(text: str, column: int) -> str:
    """Lines of code moved to another column, without a change inside texts of several lines."""
    lines = text.splitlines(keepends=True)
    now = len(lines[0]) - len(lines[0].lstrip())
    shift = column - now
    return "".join((" " * shift + line if shift > 0 else line[-shift:]) if line.strip() else line for line in lines)


def tidy(text: str) -> str:
    """Commas and empty brackets left by edits are removed; a block without a statement gets `pass`."""
    text = re.sub(r"([(\[{])\s*,\s*([)\]}])", r"\1\2", text)
    lines, out = text.splitlines(), list[str]()
    for number, line in enumerate(lines):
        out.append(line)
        if ":" in line and BLOCK_HEADER.match(line):
            rest = next((each for each in lines[number + 1 :] if each.strip() and not each.strip().startswith("#")), "")
            indent = len(line) - len(line.lstrip())
            if len(rest) - len(rest.lstrip()) <= indent and line.count("(") <= line.count(")"):
                out.append(" " * (indent + 4) + "pass")
    return re.sub(r"\n{4,}", "\n\n\n", "\n".join(out)) + "\n"


def headers(source: Source) -> Iterator[tuple[int, int, int]]:
    """Where statements without a block of their own, and the first lines of those with one, are: start, end, column."""
    for node in source.nodes:
        if isinstance(node, SIMPLE):
            yield (*source.span(node), node.col_offset)
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.If, ast.For, ast.With)):
            start, body = source.span(node)[0], source.lines(node.body[0])[0]
            if body > start:
                yield start, source.raw.rindex(b":", start, body) + 1, node.col_offset


def join_lines(text: str) -> str:
    """Statements that were broken into lines and now fit into one are joined."""
    source = Source(text)
    for start, end, column in headers(source):
        old = source.raw[start:end].decode()
        line = " ".join(part.strip() for part in old.splitlines())
        line = re.sub(r"([(\[{]) ", r"\1", re.sub(r",? ([)\]}])", r"\1", line))
        if "\n" in old and "#" not in old and column + len(line) <= WIDTH and same_code(old, line):
            source.edits.append((start, end, line))
    return source.apply()


def same_code(one: str, other: str) -> bool:
    """Whether two texts of a statement, or of its first lines, mean the same."""
    rest = " pass" if one.endswith(":") else ""
    try:
        return ast.dump(ast.parse(one + rest)) == ast.dump(ast.parse(other + rest))
    except SyntaxError:
        return False


def remove_redundant_parentheses(source: Source) -> str:
    """Removes brackets around a whole statement or argument."""
    for node in source.nodes:
        above = source.parent.get(node)
        if not isinstance(node, ast.expr) or isinstance(node, (ast.GeneratorExp, ast.NamedExpr, ast.Yield)):
            continue
        direct = (ast.Assign, ast.AnnAssign, ast.Return, ast.keyword, ast.Call, ast.Tuple, ast.BinOp, ast.BoolOp)
        if not isinstance(above, direct):
            continue
        if isinstance(above, ast.Call) and above.func is node and not isinstance(node, ast.Name):
            continue
        if isinstance(above, (ast.BinOp, ast.BoolOp)) and isinstance(
            node, (ast.BinOp, ast.BoolOp, ast.UnaryOp, ast.Compare, ast.IfExp, ast.Lambda)
        ):
            continue  # (a + b) * c is another number without them
        found = source.brackets(*source.span(node))
        if found is None or b"#" in source.raw[found[0] : found[1]]:
            continue
        if re.search(rb"([(,=]|return)\s?$", source.raw[max(found[0] - len("return "), 0) : found[0]]):
            source.edits.append((*found, source.text(node)))
    return source.apply()
