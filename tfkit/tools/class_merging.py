"""Vertical class merging: a class whose only mention is that one other class inherits from it is merged into
that one."""

from __future__ import annotations

import ast

from .ast_queries import (
    ROOTS,
    Function,
    count_references,
    effective_statements,
    in_annotation,
    is_simple,
    is_super_call,
    names_defined_by,
    names_in,
    parenthesise,
    substitute,
)
from .inlining import bind_arguments, is_live_after
from .rewrite import Source, move_columns


def merge_classes(source: Source) -> str:
    """Merges the first class that can be merged into its only subclass."""
    found = count_references(source)
    classes = {n.name: n for n in source.tree.body if isinstance(n, ast.ClassDef)}
    for child in classes.values():
        for base in child.bases:
            parent = classes.get(base.id) if isinstance(base, ast.Name) else None
            if parent is None or parent.name in ROOTS:
                continue
            annotations = [
                n for n in source.nodes if isinstance(n, ast.Name) and n.id == parent.name and in_annotation(source, n)
            ]
            if found[parent.name] - len(annotations) != 1:
                continue
            if (text := merge_into_subclass(source, parent, child, base)) is not None:
                source.edits.append((*source.lines(child), text))
                source.remove(parent)
                for node in annotations:
                    source.replace(node, child.name)
                return source.apply()
    return source.apply()


def merge_into_subclass(source: Source, parent: ast.ClassDef, child: ast.ClassDef, base: ast.expr) -> str | None:
    """The text of a class with everything that it inherits from one parent; None if it calls what it replaces in a way
    that cannot be put in."""
    own = {name: each for each in child.body for name in member_names(each)}
    inherited = [each for each in effective_statements(parent.body) if not set(member_names(each)) & set(own)]
    replaced = {name: each for each in parent.body for name in member_names(each) if name in own}
    edits = list[tuple[int, int, str]]()
    for name, old in replaced.items():
        new = own[name]
        if not isinstance(old, Function) or not isinstance(new, Function):
            continue
        calls = [n for n in ast.walk(new) if is_super_call(n, name)]
        if len(calls) > 1:
            return None
        for call in calls:
            block = inline_super_call(source, old, new, call)
            if block is None:
                return None
            edits.append(block)
    mentioned = {n.func.attr for n in ast.walk(child) if is_super_call(n, None)} - set(replaced)  # type: ignore[attr-defined]
    if any(set(member_names(each)) & mentioned for each in inherited):
        return None
    bases = [source.text(b) for b in parent.bases] + [source.text(b) for b in child.bases if b is not base]
    start, end = source.lines(child)
    header = source.raw[source.span(child)[0] : source.lines(child.body[0])[0]].decode()
    edits.append((source.span(child)[0], source.lines(child.body[0])[0], class_header(child, header, bases)))
    body = effective_statements(child.body)
    texts = [source.raw[slice(*source.lines(each))].decode() for each in inherited]
    plain = "".join(t for t, each in zip(texts, inherited, strict=True) if not isinstance(each, Function))
    methods = "".join("\n" + t for t, each in zip(texts, inherited, strict=True) if isinstance(each, Function))
    first = source.lines(body[0])[0] if body else end
    after = [each for each in body if isinstance(each, Function)]
    edits.append((first, first, plain + ("\n" if plain and body and isinstance(body[0], Function) else "")))
    place = source.lines(after[-1])[1] if after else end
    edits.append((place, place, methods))
    raw = source.raw
    for first, last, text in sorted(edits, key=lambda e: (e[0], e[1]), reverse=True):
        raw = raw[:first] + text.encode() + raw[last:]
    return raw[start : end + len(raw) - len(source.raw)].decode()


def class_header(child: ast.ClassDef, header: str, bases: list[str]) -> str:
    """The first line of a class, with other bases."""
    names = f"({', '.join(dict.fromkeys(bases))})" if bases else ""
    return f"class {child.name}{names}:\n"


def member_names(statement: ast.stmt) -> list[str]:
    """The names that a statement of a class body defines."""
    return names_defined_by(statement) if isinstance(statement, (ast.FunctionDef, ast.Assign, ast.AnnAssign)) else []


def inline_super_call(source: Source, old: Function, new: Function, call: ast.AST) -> tuple[int, int, str] | None:
    """The edit that replaces `super().method(…)` by the body of that method; None if it cannot be inlined."""
    statement = source.parent[call]
    given = bind_arguments(source, old, call)  # type: ignore[arg-type]
    if not isinstance(statement, ast.Expr) or statement not in new.body or given is None:
        return None
    if any(isinstance(n, ast.Return) for n in ast.walk(old)):
        return None
    uses, taken = names_in(old), names_in(new, ast.Store)
    local = set(names_in(old, ast.Store))
    lines = []
    texts = {}
    for name, value in given.items():
        if name in local or (uses[name] > 1 and not is_simple(value)):
            if name in taken or name in {arg.arg for arg in new.args.args} and source.text(value) != name:
                return None
            if source.text(value) != name:
                lines.append(f"{' ' * statement.col_offset}{name} = {source.text(value)}\n")
            elif name in local and is_live_after(source, new, statement, name):
                return None
        elif source.text(value) != name:
            texts[name] = parenthesise(source, value)
    if (local - set(given)) & (set(taken) | set(names_in(new))):
        return None
    body = effective_statements(old.body)
    for each in body:
        first, last = source.lines(each)
        lead = source.raw[first : source.span(each)[0]].decode()
        tail = source.raw[source.span(each)[1] : last].decode()
        lines.append(move_columns(lead + substitute(source, each, texts) + tail, statement.col_offset))
    return (*source.lines(statement), "".join(lines))
