"""Constant folding: tests and operators of constants, look-ups of constant keys, and copy propagation."""

from __future__ import annotations

import ast

from .ast_queries import functions, is_reassigned_after, is_simple, names_in, parenthesise, single_assignments
from .rewrite import Source


def fold_constants(source: Source) -> str:
    """Folds tests, comparisons and boolean operators of constants, and removes what comes after a `return`."""
    for node in source.nodes:
        for block in (getattr(node, name, None) for name in ("body", "orelse")):
            if isinstance(block, list):
                remove_unreachable(source, block)
        if isinstance(node, (ast.If, ast.IfExp)) and isinstance(node.test, ast.Constant):
            fold_conditional(source, node)
        elif isinstance(node, ast.Compare) and len(node.ops) == 1:
            fold_comparison(source, node)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not) and isinstance(node.operand, ast.Constant):
            source.replace(node, str(not node.operand.value))
        elif isinstance(node, ast.BoolOp):
            fold_boolean(source, node)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Lambda) and not node.args and not node.keywords:
            source.replace(node, parenthesise(source, node.func.body))
    return source.apply()


def remove_unreachable(source: Source, block: list[ast.stmt]) -> None:
    """Removes what follows the first `return`, `raise`, `continue` or `break` of a block."""
    ends = [n for n, each in enumerate(block) if isinstance(each, (ast.Return, ast.Raise, ast.Continue, ast.Break))]
    for statement in block[ends[0] + 1 :] if ends else ():
        source.remove(statement)


def fold_conditional(source: Source, node: ast.If | ast.IfExp) -> None:
    """Replaces an `if` by the branch that its constant test chooses."""
    assert isinstance(node.test, ast.Constant)
    if isinstance(node, ast.IfExp):
        source.replace(node, parenthesise(source, node.body if node.test.value else node.orelse))
    elif not source.text(node).startswith("elif"):
        live = node.body if node.test.value else node.orelse
        if not (live and source.text(live[0]).startswith("elif")):
            source.replace_by_block(node, live)


def fold_comparison(source: Source, node: ast.Compare) -> None:
    """Replaces a comparison of two constants by its result."""
    left, right, how = node.left, node.comparators[0], node.ops[0]
    if not isinstance(left, ast.Constant):
        return
    values = right.elts if isinstance(right, (ast.Tuple, ast.Set, ast.List)) else [right]
    if not all(isinstance(each, ast.Constant) for each in values):
        return
    equal = any(left.value == each.value and type(left.value) is type(each.value) for each in values)  # type: ignore[attr-defined]
    if isinstance(how, (ast.In, ast.Is, ast.Eq)):
        source.replace(node, str(equal))
    elif isinstance(how, (ast.NotIn, ast.IsNot, ast.NotEq)):
        source.replace(node, str(not equal))


def fold_boolean(source: Source, node: ast.BoolOp) -> None:
    """Removes neutral constants from `and` and `or`, and replaces the whole by a constant that decides it."""
    neutral = isinstance(node.op, ast.And)  # True in `and`, False in `or`
    first, *rest = node.values
    if isinstance(first, ast.Constant):
        text = source.raw[source.element(rest[0])[0] : source.span(node)[1]].decode()
        if bool(first.value) != neutral:
            source.replace(node, source.text(first))
        else:
            source.replace(node, text if len(rest) > 1 else parenthesise(source, rest[0]))
        return
    last = node.values[-1]
    flag = isinstance(last, ast.Constant) and isinstance(last.value, bool) and last.value == neutral
    if flag and is_condition(source, node):
        source.edits.append((source.element(node.values[-2])[1], source.span(last)[1], ""))


def is_condition(source: Source, node: ast.expr) -> bool:
    """Whether only the truth of an expression matters, or it is a truth value anyhow."""
    above = source.parent[node]
    if isinstance(above, (ast.If, ast.IfExp, ast.While)) and above.test is node:
        return True
    if isinstance(above, ast.comprehension) or (isinstance(above, ast.UnaryOp) and isinstance(above.op, ast.Not)):
        return True
    if isinstance(above, ast.BoolOp):
        return is_condition(source, above)
    assert isinstance(node, ast.BoolOp)
    return all(isinstance(value, ast.Compare) for value in node.values[:-1])


def propagate_copies(source: Source) -> str:
    """Replaces local names that are copies of a constant or of a name that does not change, or that hold a
    configuration which is read once."""
    for function in functions(source):
        written, reads, single = names_in(function, ast.Store), names_in(function), single_assignments(function)
        for name, made in single.items():
            value = made.value
            is_copy = isinstance(value, ast.Name) and (not written[value.id] or value.id in single)
            is_config = isinstance(value, ast.Attribute) and is_simple(value) and reads[name] == 1
            is_constant = isinstance(value, ast.Constant) and (
                value.value is None or isinstance(value.value, (bool, int, float))
            )
            is_config = is_config and source.text(value).endswith(".config")  # type: ignore[arg-type]
            if not (is_copy or is_config or is_constant):
                continue
            for node in ast.walk(function):
                if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load):
                    source.replace(node, source.text(value))  # type: ignore[arg-type]
            source.remove(made)
            return source.apply()
    return source.apply()


def fold_dict_lookups(source: Source) -> str:
    """Replaces look-ups of constant keys in a dictionary that the function itself writes down by the values."""
    for function in functions(source):
        for name, made in single_assignments(function).items():
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
            keys = [lookup_key(call) for call in calls]
            if not all(key in values and is_simple(values[key]) for key in keys):
                continue
            names = {name for key in keys for name in names_in(values[key])}
            if any(is_reassigned_after(function, made, each) for each in names):
                continue
            for call, key in zip(calls, keys, strict=True):
                source.replace(call, source.text(values[key]))  # type: ignore[arg-type]
            source.remove(made)
            return source.apply()
    return source.apply()


def lookup_key(node: ast.AST | None) -> object:
    """The constant key in `table.pop(key)` and `table.get(key)`, or `...` for another expression."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or len(node.args) != 1:
        return ...
    key = node.args[0]
    return key.value if node.func.attr in ("pop", "get") and isinstance(key, ast.Constant) else ...
