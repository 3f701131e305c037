"""Scalar replacement of aggregates: tuples, dictionaries and records that exist only to be taken apart are replaced by
their parts."""

from __future__ import annotations

import ast

from .ast_queries import (
    Function,
    count_attribute_reads,
    effective_statements,
    functions,
    is_reassigned_after,
    is_simple,
    names_assigned_once,
    names_in,
    single_assignments,
    substitute,
)
from .purity import is_pure
from .rewrite import Source


def expand_stars(source: Source) -> str:
    """Rewrites `f(*(a, b))` as `f(a, b)`, also if the tuple or dictionary has a name that nothing else reads, and
    simplifies assignments of tuples."""
    for node in source.nodes:
        if isinstance(node, ast.Call):
            expand_call_stars(source, node)
        elif isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Tuple):
            simplify_tuple_assignment(source, node)
    return source.apply()


def expand_call_stars(source: Source, call: ast.Call) -> None:
    """Passes the elements of a tuple or a dictionary as separate arguments of a call."""
    for each in (*call.args, *call.keywords):
        starred = isinstance(each, ast.Starred) or (isinstance(each, ast.keyword) and each.arg is None)
        inner = each.value if starred and isinstance(each, (ast.Starred, ast.keyword)) else None
        if isinstance(inner, ast.Name):
            function = source.inside(call, Function)
            made = single_assignments(function).get(inner.id) if isinstance(function, Function) else None
            if made is None or names_in(function)[inner.id] != sum(is_star_of(n, inner.id) for n in ast.walk(function)):  # type: ignore[arg-type]
                continue
            inner = made.value
            if not all(is_simple(n) for n in ast.iter_child_nodes(inner) if isinstance(n, ast.expr)):  # type: ignore[arg-type]
                continue
            if any(is_reassigned_after(function, made, name) for name in names_in(inner)):  # type: ignore[arg-type]
                continue
        if isinstance(inner, ast.Tuple):
            text = ", ".join(map(source.text, inner.elts))
        elif isinstance(inner, ast.Dict) and all(isinstance(k, ast.Constant) or k is None for k in inner.keys):
            pairs = zip(inner.keys, inner.values, strict=True)
            text = ", ".join(f"{k.value}={source.text(v)}" if k else f"**{source.text(v)}" for k, v in pairs)  # type: ignore[attr-defined]
        else:
            continue
        start, end = source.element(each) if text else (0, 0)
        if text:
            source.edits.append((start, end, text))
        else:
            source.remove_elements([*call.args, *call.keywords], [each])


def is_star_of(node: ast.AST, name: str) -> bool:
    """Whether a node is `*name` or `**name` in a call."""
    star = isinstance(node, ast.Starred) or (isinstance(node, ast.keyword) and node.arg is None)
    return star and isinstance(node.value, ast.Name) and node.value.id == name  # type: ignore[attr-defined]


def simplify_tuple_assignment(source: Source, node: ast.Assign) -> None:
    """Removes from `a, b = x, y` the pairs that assign a name to itself or that nothing reads, and gives a constant an
    assignment of its own."""
    targets, value = node.targets[0], node.value
    if isinstance(targets, ast.Tuple) and isinstance(value, ast.GeneratorExp):
        return unroll_generator(source, node, targets, value)
    if not isinstance(targets, ast.Tuple) or not isinstance(value, ast.Tuple) or len(targets.elts) != len(value.elts):
        return
    function = source.inside(node, Function)
    if not isinstance(function, Function) or any(isinstance(e, ast.Starred) for e in (*targets.elts, *value.elts)):
        return
    reads = names_in(function)
    attributes = count_attribute_reads(source)

    def is_redundant(target: ast.expr, given: ast.expr) -> bool:
        if source.text(target) == source.text(given):
            return True
        if isinstance(target, ast.Name):
            constant = isinstance(given, (ast.Constant, ast.Tuple, ast.Dict))
            if constant and target.id in names_assigned_once(function):
                return True
            return not reads[target.id] and is_pure(source, given)
        return isinstance(target, ast.Attribute) and is_simple(given) and not attributes[target.attr]

    pairs = list(zip(targets.elts, value.elts, strict=True))
    rest = [pair for pair in pairs if not is_redundant(*pair)]
    if len(rest) == len(pairs):
        return
    removed = [pair for pair in pairs if pair not in rest and source.text(pair[0]) != source.text(pair[1])]
    constants = [(t, v) for t, v in removed if isinstance(t, ast.Name) and reads[t.id]]
    lines = [f"{source.text(t)} = {source.text(v)}" for t, v in constants]
    if rest:
        left, right = (", ".join(source.text(pair[side]) for pair in rest) for side in (0, 1))
        lines.append(f"{left} = {right}")
    indent = " " * node.col_offset
    source.replace(node, f"\n{indent}".join(lines)) if lines else source.remove(node)


def unroll_generator(source: Source, node: ast.Assign, targets: ast.Tuple, value: ast.GeneratorExp) -> None:
    """Rewrites `a, b = (f(x) for x in (c, d))` as two assignments."""
    loop = value.generators[0]
    given = loop.iter.elts if isinstance(loop.iter, ast.Tuple) else []
    if not given or not isinstance(loop.target, ast.Name) or loop.ifs or len(given) != len(targets.elts):
        return
    if not all(is_simple(each) for each in given) or set(names_in(value.elt)) & set(names_in(targets, ast.Store)):
        return
    texts = [substitute(source, value.elt, {loop.target.id: source.text(each)}) for each in given]
    lines = [f"{source.text(target)} = {text}" for target, text in zip(targets.elts, texts, strict=True)]
    source.replace(node, f"\n{' ' * node.col_offset}".join(lines))


def replace_aggregates(source: Source) -> str:
    """Replaces the fields of a record that never leaves the function that makes it by the values it was made with."""
    classes = {n.name: n for n in source.tree.body if isinstance(n, ast.ClassDef)}
    for function in functions(source):
        for name, made in single_assignments(function).items():
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
                is_reassigned_after(function, made, n.id)
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
    """Whether a class is a dataclass or a named tuple with fields and nothing else."""
    kinds = "".join(map(source.text, [*node.decorator_list, *node.bases]))
    plain = all(isinstance(each, ast.AnnAssign) for each in effective_statements(node.body))
    return plain and ("dataclass" in kinds or "NamedTuple" in kinds)
