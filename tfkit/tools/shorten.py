"""Shortens a flat file: short functions that are called once are put where they are called, a class from which one
other inherits is merged into it, and what `simplify` finds superfluous is removed."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import cycle

from torch import Tensor

from .rewrite import Source, move_columns
from .simplify import (
    ROOTS,
    SPECIAL,
    Function,
    brackets,
    claims,
    effects,
    functions,
    in_annotation,
    is_simple,
    is_super_call,
    names_defined_by,
    names_in,
    propagate_names,
    references,
    simple_assignments,
    statements,
    stored_after,
    substitute,
    unpack_arguments,
    unused_attributes,
    unused_locals,
    unused_names,
    with_brackets,
    without_constants,
    without_unmade_classes,
)

LONG = 9  # statements: a longer function keeps its name, even if it is called once


def shorten_file(text: str) -> str:
    """The file without all of it."""
    turns: Iterator[Callable[[Source], str]] = cycle(STEPS)
    idle = 0
    while idle < len(STEPS):
        new = next(turns)(Source(text))
        idle, text = (idle + 1 if new == text else 0), new
    return text


def inline_functions(source: Source) -> str:
    """Functions that only return an argument, or one short expression of arguments, at the places that call them."""
    for function, calls in functions_with_calls(source):
        body = statements(function.body)
        if len(body) != 1 or not isinstance(body[0], ast.Return) or body[0].value is None:
            continue
        value, a = body[0].value, function.args
        if a.vararg or a.kwarg or "\n" in source.text(value) or not calls:
            continue
        forwards = isinstance(value, ast.Call) and isinstance(value.func, ast.Name)
        if not (is_simple(value) or len(calls) == 1 or (forwards and len(source.text(value)) < 40)):
            continue
        for call in calls:
            if (text := inline(source, function, value, call)) is not None:
                source.replace(call, text)
        source.remove(function) if isinstance(source.parent[function], ast.ClassDef) and source.edits else None
        if source.edits:
            return source.apply()
    return source.apply()


def functions_with_calls(source: Source) -> Iterator[tuple[Function, list[ast.Call]]]:
    """The functions, and the methods of a name of their own, that are only ever called, with these calls."""
    found = references(source)
    attributes = Counter(n.attr for n in source.nodes if isinstance(n, ast.Attribute))
    texts = {n.value for n in source.nodes if isinstance(n, ast.Constant) and isinstance(n.value, str)}
    names = Counter(f.name for f in functions(source))
    calls: dict[str, list[ast.Call]] = {}
    for node in source.nodes:
        if isinstance(node, ast.Call):
            name = getattr(node.func, "id", getattr(node.func, "attr", ""))
            calls.setdefault(name, []).append(node)
    for function in functions(source):
        name, above, mine = function.name, source.parent[function], calls.get(function.name, [])
        if function.decorator_list or names[name] != 1 or name == "forward" or SPECIAL.fullmatch(name) or name in texts:
            continue
        if (
            isinstance(above, ast.Module)
            and found[name] == len(mine)
            and not attributes[name]
            or (
                isinstance(above, ast.ClassDef)
                and attributes[name] == len(mine)
                and not found[name]
                and not hasattr(Tensor, name)
            )
            and all(isinstance(call.func, ast.Attribute) and is_simple(call.func.value) for call in mine)
        ):
            yield function, mine


def inline(source: Source, function: Function, value: ast.expr, call: ast.Call) -> str | None:
    """The expression that a function returns, with the arguments of a call; None if they cannot be put in."""
    given = bindings(source, function, call)
    if given is None:
        return None
    uses = names_in(value)
    for name, argument in given.items():
        if uses[name] > 1 and not is_simple(argument):
            return None
    text = substitute(source, value, {name: with_brackets(source, argument) for name, argument in given.items()})
    return text if with_brackets(source, value) == source.text(value) else f"({text})"


def bindings(source: Source, function: Function, call: ast.Call) -> dict[str, ast.expr] | None:
    """The argument, or the default, for each parameter; None for a call with stars."""
    a = function.args
    names = [arg.arg for arg in a.args if arg.arg != "self"]
    if (
        a.vararg
        or a.kwarg
        or any(isinstance(each, ast.Starred) for each in call.args)
        or any(k.arg is None for k in call.keywords)
    ):
        return None
    given: dict[str, ast.expr] = dict(zip(names[::-1], a.defaults[::-1], strict=False))
    given |= {arg.arg: value for arg, value in zip(a.kwonlyargs, a.kw_defaults, strict=True) if value is not None}
    if (
        isinstance(source.parent[function], ast.ClassDef)
        and isinstance(call.func, ast.Attribute)
        and not is_super_call(call, None)
    ):
        given["self"] = call.func.value
    given |= dict(zip(names, call.args, strict=False)) | {k.arg: k.value for k in call.keywords if k.arg}
    return given if set(given) - {"self"} == {*names, *(arg.arg for arg in a.kwonlyargs)} else None


def absorb_functions(source: Source) -> str:
    """A short function or method that is called once, by a statement of its own, is put there."""
    for function, calls in functions_with_calls(source):
        place = source.parent[calls[0]] if len(calls) == 1 else None
        if len(statements(function.body)) > LONG or not isinstance(place, (ast.Assign, ast.Return, ast.Expr)):
            continue
        new = source.inside(place, Function)
        if isinstance(new, Function) and new is not function and place.value is calls[0]:
            block = block_of(source, function, new, calls[0], place)
            if block is not None:
                source.edits.append(block)
                source.remove(function)
                return source.apply()
    return source.apply()


def block_of(
    source: Source, old: Function, new: Function, call: ast.Call, place: ast.stmt
) -> tuple[int, int, str] | None:
    """The edit that puts the body of a function in the place of a statement that calls it."""
    given, body = bindings(source, old, call), statements(old.body)
    ends = [n for n in ast.walk(old) if isinstance(n, ast.Return)]
    if (
        given is None
        or len(ends) > 1
        or (ends and body[-1] is not ends[0])
        or (not ends and not isinstance(place, ast.Expr))
    ):
        return None
    used, local = names_in(old), set(names_in(old, ast.Store))
    outside = {n.arg for n in ast.walk(new) if isinstance(n, ast.arg)} | set(names_in(new, ast.Store))
    lines, texts = list[str](), dict[str, str]()
    indent = " " * place.col_offset
    target = names_in(place, ast.Store)
    for name, value in given.items():
        if name not in local and (is_simple(value) or used[name] <= 1):
            texts[name] = with_brackets(source, value)
        elif source.text(value) != name:
            if name in outside:
                return None
            lines.append(f"{indent}{name} = {source.text(value)}\n")
        elif name in local and name not in target and read_later(source, new, place, name):
            return None
    returned = ends[0].value if ends else None
    clash = (local - set(given)) & outside
    if clash - set(target):
        return None
    for each in body[: len(body) - len(ends)]:
        first, last = source.lines(each)
        lead, tail = source.raw[first : source.span(each)[0]].decode(), source.raw[source.span(each)[1] : last].decode()
        lines.append(move_columns(lead + substitute(source, each, texts) + tail, place.col_offset))
    if returned is not None:
        start, end = source.span(place)
        first, last = source.span(call)
        text = substitute(source, returned, texts)
        lines.append(indent + source.raw[start:first].decode() + text + source.raw[last:end].decode() + "\n")
    return (*source.lines(place), "".join(lines))


def read_later(source: Source, function: Function, place: ast.stmt, name: str) -> bool:
    """Whether a name is read after a statement, or in a loop around it."""
    inside = source.inside(place, (ast.For, ast.While)) is not None
    reads = (n for n in ast.walk(function) if isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load))
    return inside or any(n.lineno > (place.end_lineno or 0) for n in reads)


def take_records_apart(source: Source) -> str:
    """A record that a function makes and only reads the fields of is replaced by the values of these."""
    classes = {n.name: n for n in source.tree.body if isinstance(n, ast.ClassDef)}
    for function in functions(source):
        for name, made in simple_assignments(function).items():
            call = made.value
            record = classes.get(getattr(call.func, "id", "")) if isinstance(call, ast.Call) else None
            if record is None or not is_record(source, record):
                continue
            names = [
                n.target.id for n in record.body if isinstance(n, ast.AnnAssign) and isinstance(n.target, ast.Name)
            ]
            values = dict(zip(names, call.args, strict=False)) | {k.arg: k.value for k in call.keywords}  # type: ignore[union-attr]
            uses = [
                n
                for n in ast.walk(function)
                if isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load)
            ]
            above = [source.parent[n] for n in uses]
            if not all(isinstance(n, ast.Attribute) and is_simple(values.get(n.attr)) for n in above):
                continue
            if any(
                stored_after(function, made, n.id)
                for v in values.values()
                for n in ast.walk(v)
                if isinstance(n, ast.Name)
            ):
                continue
            for n in above:
                source.replace(n, source.text(values[n.attr]))  # type: ignore[attr-defined]
            source.remove(made)
            return source.apply()
    return source.apply()


def is_record(source: Source, node: ast.ClassDef) -> bool:
    """Whether a class has fields and nothing else."""
    kinds = "".join(map(source.text, [*node.decorator_list, *node.bases]))
    plain = all(isinstance(each, ast.AnnAssign) for each in statements(node.body))
    return plain and ("dataclass" in kinds or "NamedTuple" in kinds)


def look_up_constants(source: Source) -> str:
    """What is looked up in a dictionary that a function has just written down is put there at once."""
    for function in functions(source):
        for name, made in simple_assignments(function).items():
            table = made.value
            if not isinstance(table, ast.Dict) or not all(isinstance(key, ast.Constant) for key in table.keys):
                continue
            values = {key.value: value for key, value in zip(table.keys, table.values, strict=True)}  # type: ignore[union-attr]
            uses = [
                n
                for n in ast.walk(function)
                if isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load)
            ]
            calls = [source.parent.get(source.parent[n]) for n in uses]
            keys = [look_up_key(call) for call in calls]
            if not all(key in values and is_simple(values[key]) for key in keys):
                continue
            if any(
                stored_after(function, made, n.id) for k in keys for n in ast.walk(values[k]) if isinstance(n, ast.Name)
            ):
                continue
            for call, key in zip(calls, keys, strict=True):
                source.replace(call, source.text(values[key]))  # type: ignore[arg-type]
            source.remove(made)
            return source.apply()
    return source.apply()


def look_up_key(node: ast.AST | None) -> object:
    """The constant key in `table.pop(key)` and `table.get(key)`, or `...` for another expression."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or len(node.args) != 1:
        return ...
    key = node.args[0]
    return key.value if node.func.attr in ("pop", "get") and isinstance(key, ast.Constant) else ...


def merge_classes(source: Source) -> str:
    """A class from which one other class inherits and that nothing else mentions is merged into that one."""
    found = references(source)
    classes = {n.name: n for n in source.tree.body if isinstance(n, ast.ClassDef)}
    for child in classes.values():
        for base in child.bases:
            parent = classes.get(base.id) if isinstance(base, ast.Name) else None
            if parent is None or parent.name in ROOTS:
                continue
            annotations = [
                n for n in source.nodes if isinstance(n, ast.Name) and n.id == parent.name and in_annotation(source, n)
            ]
            if found[parent.name] - len(annotations) == 1 and (text := merge(source, parent, child, base)) is not None:
                source.edits.append((*source.lines(child), text))
                source.remove(parent)
                for node in annotations:
                    source.replace(node, child.name)
                return source.apply()
    return source.apply()


def merge(source: Source, parent: ast.ClassDef, child: ast.ClassDef, base: ast.expr) -> str | None:
    """The text of a class with everything that it inherits from one parent; None if it calls what it replaces in a way
    that cannot be put in."""
    own = {name: each for each in child.body for name in members(each)}
    inherited = [each for each in statements(parent.body) if not set(members(each)) & set(own)]
    replaced = {name: each for each in parent.body for name in members(each) if name in own}
    text_of_child, edits = source, list[tuple[int, int, str]]()
    for name, old in replaced.items():
        new = own[name]
        if not isinstance(old, Function) or not isinstance(new, Function):
            continue
        calls = [n for n in ast.walk(new) if is_super_call(n, name)]
        if len(calls) > 1:
            return None
        for call in calls:
            block = super_block(source, old, new, call)
            if block is None:
                return None
            edits.append(block)
    mentioned = {n.func.attr for n in ast.walk(child) if is_super_call(n, None)} - set(replaced)  # type: ignore[attr-defined]
    if any(set(members(each)) & mentioned for each in inherited):
        return None
    bases = [source.text(b) for b in parent.bases] + [source.text(b) for b in child.bases if b is not base]
    start, end = text_of_child.lines(child)
    header = source.raw[source.span(child)[0] : source.lines(child.body[0])[0]].decode()
    edits.append((source.span(child)[0], source.lines(child.body[0])[0], header_of(child, header, bases)))
    body = statements(child.body)
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


def header_of(child: ast.ClassDef, header: str, bases: list[str]) -> str:
    """The first line of a class, with other bases."""
    names = f"({', '.join(dict.fromkeys(bases))})" if bases else ""
    return f"class {child.name}{names}:\n"


def members(statement: ast.stmt) -> list[str]:
    """The names that a statement of a class body defines."""
    return names_defined_by(statement) if isinstance(statement, (ast.FunctionDef, ast.Assign, ast.AnnAssign)) else []


def super_block(source: Source, old: Function, new: Function, call: ast.AST) -> tuple[int, int, str] | None:
    """The edit that puts the body of the parent's method in the place of its call."""
    statement = source.parent[call]
    given = bindings(source, old, call)  # type: ignore[arg-type]
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
            elif name in local and read_later(source, new, statement, name):
                return None
        elif source.text(value) != name:
            texts[name] = with_brackets(source, value)
    if (local - set(given)) & (set(taken) | set(names_in(new))):
        return None
    body = statements(old.body)
    for each in body:
        first, last = source.lines(each)
        lead = source.raw[first : source.span(each)[0]].decode()
        tail = source.raw[source.span(each)[1] : last].decode()
        lines.append(move_columns(lead + substitute(source, each, texts) + tail, statement.col_offset))
    return (*source.lines(statement), "".join(lines))


STEPS = (
    without_constants,
    unpack_arguments,
    propagate_names,
    unused_names,
    effects,
    unused_locals,
    unused_attributes,
    inline_functions,
    absorb_functions,
    take_records_apart,
    look_up_constants,
    merge_classes,
    without_unmade_classes,
    claims,
    brackets,
)
