"""Inlining: short functions that are called once, or that only forward, are put where they are called."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator

from torch import Tensor

from .ast_queries import (
    DUNDER,
    ROOTS,
    Function,
    count_references,
    effective_statements,
    functions,
    is_simple,
    is_super_call,
    names_in,
    parenthesise,
    substitute,
)
from .rewrite import Source, move_columns

MAX_STATEMENTS = 9  # statements: a longer function keeps its name, even if it is called once


def inline_expressions(source: Source) -> str:
    """Inlines functions that only return an argument, or one short expression of their arguments."""
    for function, calls in inlining_candidates(source):
        body = effective_statements(function.body)
        if len(body) != 1 or not isinstance(body[0], ast.Return) or body[0].value is None:
            continue
        value, a = body[0].value, function.args
        if a.vararg or a.kwarg or "\n" in source.text(value) or not calls:
            continue
        forwards = isinstance(value, ast.Call) and isinstance(value.func, ast.Name)
        if not (is_simple(value) or len(calls) == 1 or (forwards and len(source.text(value)) < 40)):
            continue
        for call in calls:
            if (text := inline_call(source, function, value, call)) is not None:
                source.replace(call, text)
        source.remove(function) if isinstance(source.parent[function], ast.ClassDef) and source.edits else None
        if source.edits:
            return source.apply()
    return source.apply()


def inlining_candidates(source: Source) -> Iterator[tuple[Function, list[ast.Call]]]:
    """The functions, and the methods whose name is unique, that are only ever called, with these calls."""
    found = count_references(source)
    attributes = Counter(n.attr for n in source.nodes if isinstance(n, ast.Attribute))
    texts = {n.value for n in source.nodes if isinstance(n, ast.Constant) and isinstance(n.value, str)}
    names = Counter(f.name for f in functions(source))
    calls: dict[str, list[ast.Call]] = {}
    for node in source.nodes:
        if isinstance(node, ast.Call):
            name = getattr(node.func, "id", getattr(node.func, "attr", ""))
            calls.setdefault(name, []).append(node)
    for function in functions(source):
        name, above, own_calls = function.name, source.parent[function], calls.get(function.name, [])
        if function.decorator_list or names[name] != 1 or name == "forward" or DUNDER.fullmatch(name) or name in texts:
            continue
        if (
            isinstance(above, ast.Module)
            and found[name] == len(own_calls)
            and not attributes[name]
            or (
                isinstance(above, ast.ClassDef)
                and attributes[name] == len(own_calls)
                and not found[name]
                and not hasattr(Tensor, name)
            )
            and all(isinstance(call.func, ast.Attribute) and is_simple(call.func.value) for call in own_calls)
        ):
            yield function, own_calls


def remove_forwarders(source: Source) -> str:
    """Replaces a function that only passes its arguments on to another one, with the same parameters, by that one."""
    by_name = {f.name: f for f in source.tree.body if isinstance(f, Function)}
    for function in by_name.values():
        body = effective_statements(function.body)
        call = body[0].value if len(body) == 1 and isinstance(body[0], ast.Return) else None
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or function.name in ROOTS:
            continue
        target = by_name.get(call.func.id)
        if target is None or target is function or function.decorator_list or not passes_on(function, call, target):
            continue
        for node in source.nodes:
            if isinstance(node, ast.Name) and node.id == function.name:
                source.replace(node, target.name)
        source.remove(function)
        return source.apply()
    return source.apply()


def passes_on(function: Function, call: ast.Call, target: Function) -> bool:
    """Whether a call gives a function's parameters, in their order, to a function with the same names and defaults.
    Further keywords, `**given`, that it does not pass on may differ."""
    own, other = function.args, target.args
    if call.keywords or own.vararg or other.vararg or own.kwonlyargs or other.kwonlyargs or other.kwarg:
        return False
    names = [arg.arg for arg in own.args]
    same_defaults = list(map(ast.dump, own.defaults)) == list(map(ast.dump, other.defaults))
    given = [each.id if isinstance(each, ast.Name) else None for each in call.args]
    return given == names == [arg.arg for arg in other.args] and same_defaults


def inline_call(source: Source, function: Function, value: ast.expr, call: ast.Call) -> str | None:
    """The expression that a function returns, with the arguments of a call; None if they cannot be put in."""
    given = bind_arguments(source, function, call)
    if given is None:
        return None
    uses = names_in(value)
    for name, argument in given.items():
        if uses[name] > 1 and not is_simple(argument):
            return None
    text = substitute(source, value, {name: parenthesise(source, argument) for name, argument in given.items()})
    return text if parenthesise(source, value) == source.text(value) else f"({text})"


def bind_arguments(source: Source, function: Function, call: ast.Call) -> dict[str, ast.expr] | None:
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


def inline_statements(source: Source) -> str:
    """Inlines a short function or method that is called once, as a statement, a returned or an assigned value."""
    for function, calls in inlining_candidates(source):
        place = source.parent[calls[0]] if len(calls) == 1 else None
        if len(effective_statements(function.body)) > MAX_STATEMENTS:
            continue
        if not isinstance(place, (ast.Assign, ast.Return, ast.Expr)):
            continue
        new = source.inside(place, Function)
        if isinstance(new, Function) and new is not function and place.value is calls[0]:
            block = inline_body(source, function, new, calls[0], place)
            if block is not None:
                source.edits.append(block)
                source.remove(function)
                return source.apply()
    return source.apply()


def inline_body(
    source: Source, old: Function, new: Function, call: ast.Call, place: ast.stmt
) -> tuple[int, int, str] | None:
    """The edit that replaces a statement by the body of the function that it calls; None if names would clash."""
    given, body = bind_arguments(source, old, call), effective_statements(old.body)
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
            texts[name] = parenthesise(source, value)
        elif source.text(value) != name:
            if name in outside:
                return None
            lines.append(f"{indent}{name} = {source.text(value)}\n")
        elif name in local and name not in target and is_live_after(source, new, place, name):
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


def is_live_after(source: Source, function: Function, place: ast.stmt, name: str) -> bool:
    """Whether a name is read after a statement, or in a loop around it."""
    inside = source.inside(place, (ast.For, ast.While)) is not None
    reads = (n for n in ast.walk(function) if isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load))
    return inside or any(n.lineno > (place.end_lineno or 0) for n in reads)
