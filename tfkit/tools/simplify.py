"""Removes from a flat file what the text alone shows to be superfluous: names that nothing uses, functions without an
effect, tests of constants. Each step takes a file and gives its text with that done once; `shorten` repeats them."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator

from .rewrite import Source

ROOTS = {"MODEL", "Config", "PRESETS"}
# methods that change what they are called on: such a call is never superfluous
IN_PLACE = {"append", "extend", "pop", "update", "setdefault", "add", "register_buffer", "insert", "remove", "apply"}
SPECIAL = re.compile(r"__\w+__")
CONFIG = re.compile(r"(^|\.)(c|config|self|cfg)$")  # names under which a configuration is read
Function = ast.FunctionDef


def functions(source: Source) -> Iterator[Function]:
    """All functions and methods."""
    yield from (node for node in source.nodes if isinstance(node, ast.FunctionDef))


def names_in(node: ast.AST, context: type = ast.Load) -> Counter[str]:
    """How often each name is read (or written) in a piece of code."""
    return Counter(n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, context))


def statements(body: list[ast.stmt]) -> list[ast.stmt]:
    """A block without its docstring and without `pass`."""
    found = [each for each in body if not isinstance(each, ast.Pass)]
    first = found[0] if found else None
    is_text = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    return found[1:] if is_text else found


def simple_assignments(function: Function) -> dict[str, ast.Assign | ast.AnnAssign]:
    """The local names that are written once, by a statement of their own, outside loops and branches."""
    written = names_in(function, ast.Store)
    arguments = {n.arg for n in ast.walk(function) if isinstance(n, ast.arg)}
    found: dict[str, ast.Assign | ast.AnnAssign] = {}
    for each in function.body:
        target = each.targets[0] if isinstance(each, ast.Assign) and len(each.targets) == 1 else None
        target = each.target if isinstance(each, ast.AnnAssign) and each.value is not None else target
        if isinstance(target, ast.Name) and written[target.id] == 1 and target.id not in arguments:
            found[target.id] = each  # type: ignore[assignment]
    return found


def unpack_arguments(source: Source) -> str:
    """`f(*(a, b))` as `f(a, b)`, also if the tuple or dictionary has a name that is used for this alone."""
    for node in source.nodes:
        if isinstance(node, ast.Call):
            unpack(source, node)
        elif isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Tuple):
            split(source, node)
    return source.apply()


def unpack(source: Source, call: ast.Call) -> None:
    """The elements of a tuple or a dictionary as arguments of a call."""
    for each in (*call.args, *call.keywords):
        starred = isinstance(each, ast.Starred) or (isinstance(each, ast.keyword) and each.arg is None)
        inner = each.value if starred and isinstance(each, (ast.Starred, ast.keyword)) else None
        if isinstance(inner, ast.Name):
            function = source.inside(call, Function)
            made = simple_assignments(function).get(inner.id) if isinstance(function, Function) else None
            if made is None or names_in(function)[inner.id] != sum(uses_star(n, inner.id) for n in ast.walk(function)):  # type: ignore[arg-type]
                continue
            inner = made.value
            if not all(is_simple(n) for n in ast.iter_child_nodes(inner) if isinstance(n, ast.expr)):  # type: ignore[arg-type]
                continue
            if any(stored_after(function, made, name) for name in names_in(inner)):  # type: ignore[arg-type]
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


def uses_star(node: ast.AST, name: str) -> bool:
    """Whether a node is `*name` or `**name` in a call."""
    star = isinstance(node, ast.Starred) or (isinstance(node, ast.keyword) and node.arg is None)
    return star and isinstance(node.value, ast.Name) and node.value.id == name  # type: ignore[attr-defined]


def stored_after(function: Function, made: ast.stmt, name: str) -> bool:
    """Whether a local name is written again after a statement."""
    return any(
        isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Store) and n.lineno > made.lineno
        for n in ast.walk(function)
    )


def is_simple(node: ast.expr | None) -> bool:
    """Whether an expression is a name, a constant, or an attribute of one: cheap, and the same wherever it stands."""
    if isinstance(node, ast.Attribute):
        return is_simple(node.value)
    return isinstance(node, (ast.Name, ast.Constant))


def split(source: Source, node: ast.Assign) -> None:
    """`a, b = x, y` without the part that assigns a constant or a name to itself, or that nothing reads."""
    targets, value = node.targets[0], node.value
    if isinstance(targets, ast.Tuple) and isinstance(value, ast.GeneratorExp):
        return unroll(source, node, targets, value)
    if not isinstance(targets, ast.Tuple) or not isinstance(value, ast.Tuple) or len(targets.elts) != len(value.elts):
        return
    function = source.inside(node, Function)
    if not isinstance(function, Function) or any(isinstance(e, ast.Starred) for e in (*targets.elts, *value.elts)):
        return
    reads = names_in(function)
    attributes = loaded_attributes(source)

    def needless(target: ast.expr, given: ast.expr) -> bool:
        if source.text(target) == source.text(given):
            return True
        if isinstance(target, ast.Name):
            constant = isinstance(given, (ast.Constant, ast.Tuple, ast.Dict)) and target.id in single_writes(function)
            return constant or (not reads[target.id] and is_pure(source, given))
        return isinstance(target, ast.Attribute) and is_simple(given) and not attributes[target.attr]

    pairs = list(zip(targets.elts, value.elts, strict=True))
    rest = [pair for pair in pairs if not needless(*pair)]
    if len(rest) == len(pairs):
        return
    alone = [pair for pair in pairs if pair not in rest and source.text(pair[0]) != source.text(pair[1])]
    alone = [(t, v) for t, v in alone if isinstance(t, ast.Name) and reads[t.id]]
    lines = [f"{source.text(t)} = {source.text(v)}" for t, v in alone]
    if rest:
        left, right = (", ".join(source.text(pair[side]) for pair in rest) for side in (0, 1))
        lines.append(f"{left} = {right}")
    indent = " " * node.col_offset
    source.replace(node, f"\n{indent}".join(lines)) if lines else source.remove(node)


def unroll(source: Source, node: ast.Assign, targets: ast.Tuple, value: ast.GeneratorExp) -> None:
    """`a, b = (f(x) for x in (c, d))` as two assignments."""
    loop = value.generators[0]
    given = loop.iter.elts if isinstance(loop.iter, ast.Tuple) else []
    if not given or not isinstance(loop.target, ast.Name) or loop.ifs or len(given) != len(targets.elts):
        return
    if not all(is_simple(each) for each in given) or set(names_in(value.elt)) & set(names_in(targets, ast.Store)):
        return
    texts = [substitute(source, value.elt, {loop.target.id: source.text(each)}) for each in given]
    lines = [f"{source.text(target)} = {text}" for target, text in zip(targets.elts, texts, strict=True)]
    source.replace(node, f"\n{' ' * node.col_offset}".join(lines))


def single_writes(function: Function) -> set[str]:
    """The local names that are written once."""
    arguments = {n.arg for n in ast.walk(function) if isinstance(n, ast.arg)}
    return {name for name, count in names_in(function, ast.Store).items() if count == 1} - arguments


def propagate_names(source: Source) -> str:
    """Local names that stand for a constant, for another name that does not change, or for something that is used once
    are replaced by it."""
    for function in functions(source):
        written, reads = names_in(function, ast.Store), names_in(function)
        for name, made in simple_assignments(function).items():
            value = made.value
            fixed = isinstance(value, ast.Name) and (not written[value.id] or value.id in simple_assignments(function))
            once = isinstance(value, ast.Attribute) and is_simple(value) and reads[name] == 1
            flag = isinstance(value, ast.Constant) and (
                value.value is None or isinstance(value.value, (bool, int, float))
            )
            if not (fixed or once or flag) or (once and not source.text(value).endswith(".config")):  # type: ignore[arg-type]
                continue
            for node in ast.walk(function):
                if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load):
                    source.replace(node, source.text(value))  # type: ignore[arg-type]
            source.remove(made)
            return source.apply()
    return source.apply()


def references(source: Source) -> Counter[str]:
    """How often each name of the top level is mentioned, in annotations in quotes too."""
    found = Counter(n.id for n in source.nodes if isinstance(n, ast.Name))
    for node in source.nodes:
        annotation = getattr(node, "annotation", None) or getattr(node, "returns", None)
        for text in (n for n in ast.walk(annotation) if isinstance(n, ast.Constant)) if annotation is not None else ():
            found.update(re.findall(r"\w+", str(text.value)))
    return found


def names_defined_by(statement: ast.stmt) -> list[str]:
    """The names that a statement of the top level defines."""
    if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
        return [statement.name]
    targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
    return [n.id for t in targets if t is not None for n in ast.walk(t) if isinstance(n, ast.Name)]


def unused_names(source: Source) -> str:
    """Without the functions, classes and constants that nothing refers to, and without unused imports."""
    found = references(source)
    for statement in source.tree.body:
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            for alias in statement.names:
                name = alias.asname or alias.name.partition(".")[0]
                if not found[name] and getattr(statement, "module", "") != "__future__":
                    source.remove(statement)
            continue
        own = names_defined_by(statement)
        if own and not set(own) & ROOTS:
            inside = names_in(statement) if isinstance(statement, (ast.FunctionDef, ast.ClassDef)) else Counter(own)
            twice = sum(own[0] in names_defined_by(each) for each in source.tree.body) > 1
            if (
                all(found[name] <= inside[name] for name in own)
                and not twice
                or twice
                and all(
                    own[0] in names_defined_by(n)
                    for n in source.tree.body
                    if own[0] in names_in(n) | names_in(n, ast.Store)
                )
            ):
                source.remove(statement)
    return source.apply()


def is_pure(source: Source, node: ast.AST) -> bool:
    """Whether an expression only computes a value: it calls nothing of this file and changes nothing in place."""
    own = source.own = getattr(source, "own", None) or {n.name for n in functions(source)}  # type: ignore[attr-defined]
    for each in ast.walk(node):
        if isinstance(each, (ast.NamedExpr, ast.Yield, ast.Await)):
            return False
        if isinstance(each, ast.Call):
            name = each.func.attr if isinstance(each.func, ast.Attribute) else getattr(each.func, "id", "")
            if name in own - harmless(source) or name in IN_PLACE or (name.endswith("_") and not name.endswith("__")):
                return False
    return True


def harmless(source: Source) -> set[str]:
    """The functions of the file that only compute, so that a call whose value is not used is needless."""
    by_name: dict[str, list[Function]] = {}
    for function in functions(source):
        if not SPECIAL.fullmatch(function.name):
            by_name.setdefault(function.name, []).append(function)
    known = getattr(source, "harmless", None)
    if known is not None:
        return known
    found: set[str] = set()
    source.harmless = found  # type: ignore[attr-defined]
    more = True
    while more:
        new = {n for n, each in by_name.items() if n not in found and all(has_no_effect(source, f) for f in each)}
        more, found = bool(new), found | new
        source.harmless = found  # type: ignore[attr-defined]
    return found


def has_no_effect(source: Source, function: Function) -> bool:
    """Whether a function only computes: it assigns local names, raises nothing, and calls nothing that does more."""
    allowed = (ast.Assign, ast.AnnAssign, ast.For, ast.If, ast.Expr, ast.Return, ast.Pass, ast.Continue, ast.Break)
    for node in (n for n in ast.walk(function) if isinstance(n, ast.stmt) and n is not function):
        if not isinstance(node, allowed):
            return False
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        if any(
            isinstance(n, (ast.Attribute, ast.Subscript)) and isinstance(n.ctx, ast.Store)
            for t in targets
            if t
            for n in ast.walk(t)
        ):
            return False
    return all(is_pure(source, each) for each in function.body)


def effects(source: Source) -> str:
    """Without calls whose value is not used, of functions without an effect, and without loops of nothing."""
    for node in source.nodes:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            name = getattr(node.value.func, "id", getattr(node.value.func, "attr", ""))
            if name in harmless(source) and is_pure(source, node):
                source.remove(node)
        elif isinstance(node, (ast.For, ast.If)) and not statements(node.body) + node.orelse and is_pure(source, node):
            source.remove(node)
    return source.apply()


def unused_locals(source: Source) -> str:
    """Without local names that nothing reads, and assignments of a name to itself."""
    for function in functions(source):
        reads = names_in(function)
        for node in ast.walk(function):
            if not isinstance(node, (ast.Assign, ast.AnnAssign)) or node.value is None:
                continue
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            if isinstance(target, ast.Name) and (isinstance(node, ast.AnnAssign) or len(node.targets) == 1):
                same = isinstance(node.value, ast.Name) and node.value.id == target.id
                unread = not reads[target.id] or is_overwritten(source, node, target.id)
                if same or (unread and is_pure(source, node.value)):
                    source.remove(node)
            elif isinstance(target, ast.Tuple):
                names = [each.value if isinstance(each, ast.Starred) else each for each in target.elts]
                unread = all(isinstance(each, ast.Name) and not reads[each.id] for each in names)
                if source.text(target) == source.text(node.value) or (unread and is_pure(source, node.value)):
                    source.remove(node)
    return source.apply()


def is_overwritten(source: Source, node: ast.stmt, name: str) -> bool:
    """Whether the next statement writes to the name that this one writes to, without reading it."""
    block = next((b for b in blocks(source.parent[node]) if node in b), [])
    after = block[block.index(node) + 1 :][:1]
    return any(isinstance(n, ast.Assign) and names_in(n, ast.Store)[name] and not names_in(n)[name] for n in after)


def blocks(node: ast.AST) -> list[list[ast.stmt]]:
    """The blocks of a statement."""
    return [block for part in ("body", "orelse", "finalbody") if isinstance(block := getattr(node, part, None), list)]


def loaded_attributes(source: Source) -> Counter[str]:
    """How often each attribute is read, or named in a text, by which it may be read."""
    found = Counter(n.attr for n in source.nodes if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Load))
    found.update(n.value for n in source.nodes if isinstance(n, ast.Constant) and isinstance(n.value, str))
    return found


def unused_attributes(source: Source) -> str:
    """Without attributes that nothing reads, of instances and of classes; modules and parameters stay."""
    loaded = loaded_attributes(source)
    for node in source.nodes:
        if isinstance(node, ast.Assign) and len(node.targets) == 1 or isinstance(node, ast.AnnAssign) and node.value:
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            value = node.value
            free = is_simple(value) or is_number(value) or isinstance(value, (ast.Dict, ast.Tuple, ast.List))  # type: ignore[arg-type]
            free = free or source.text(value).startswith("nn.Dropout(")  # type: ignore[arg-type]
            if isinstance(target, ast.Attribute) and is_simple(target) and not loaded[target.attr] and free:
                source.remove(node)
        elif isinstance(node, ast.ClassDef):
            unused_members(source, node, loaded)
    return source.apply()


def unused_members(source: Source, node: ast.ClassDef, loaded: Counter[str]) -> None:
    """A class without class attributes that nothing reads; the Config also without such fields."""
    is_data = bool(node.decorator_list) or "NamedTuple" in "".join(map(source.text, node.bases))
    if node.name == "Config":
        of_config = [n for n in source.nodes if isinstance(n, ast.Attribute) and CONFIG.search(source.text(n.value))]
        texts = Counter(n.value for n in source.nodes if isinstance(n, ast.Constant) and isinstance(n.value, str))
        loaded = Counter(n.attr for n in of_config) + texts
    for each in node.body:
        own = names_defined_by(each) if isinstance(each, (ast.Assign, ast.AnnAssign)) else []
        used = any(loaded[n] or sum(names_in(s)[n] for s in node.body) for n in own)
        field = isinstance(each, ast.AnnAssign) and "ClassVar" not in source.text(each.annotation)
        if own and not used and (node.name == "Config" or not (field and is_data)):
            source.remove(each)
        empty = isinstance(each, Function) and each.name == "__post_init__" and not statements(each.body)
        if empty and not any(is_super_call(n, "__post_init__") for n in source.nodes):
            source.remove(each)


def is_number(node: ast.expr) -> bool:
    """Whether an expression is arithmetic, a comparison or a plain conversion of simple values."""
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id in (
            "bool",
            "int",
            "float",
            "getattr",
            "min",
            "max",
            "len",
        )
    parts = [n for n in ast.iter_child_nodes(node) if isinstance(n, ast.expr)]
    return isinstance(node, (ast.BinOp, ast.Compare, ast.BoolOp)) and all(is_simple(p) or is_number(p) for p in parts)


def with_brackets(source: Source, node: ast.expr) -> str:
    """The text of an expression, in brackets unless it holds together."""
    closed = (ast.Name, ast.Constant, ast.Attribute, ast.Call, ast.Subscript, ast.Tuple, ast.List, ast.Dict)
    text = source.text(node)
    return text if isinstance(node, closed) else f"({text})"


def substitute(source: Source, node: ast.AST, texts: dict[str, str]) -> str:
    """The text of a node, with other texts in place of some names."""
    start, end = source.span(node)
    edits = [(*source.span(n), texts[n.id]) for n in ast.walk(node) if isinstance(n, ast.Name) and n.id in texts]
    raw = source.raw[start:end]
    for first, last, text in sorted(edits, reverse=True):
        raw = raw[: first - start] + text.encode() + raw[last - start :]
    return raw.decode()


def in_annotation(source: Source, node: ast.AST) -> bool:
    """Whether a name is part of an annotation."""
    while (above := source.parent.get(node)) is not None and isinstance(node, ast.expr):
        if getattr(above, "annotation", None) is node or getattr(above, "returns", None) is node:
            return True
        node = above
    return False


def is_super_call(node: ast.AST, name: str | None) -> bool:
    """Whether a node is `super().name(…)`."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    inner = node.func.value
    is_super = isinstance(inner, ast.Call) and isinstance(inner.func, ast.Name) and inner.func.id == "super"
    return is_super and (name is None or node.func.attr == name)


def claims(source: Source) -> str:
    """Docstrings without the errors that their functions no longer raise."""
    for node in source.nodes:
        if not isinstance(node, (ast.FunctionDef, ast.ClassDef)) or ast.get_docstring(node) is None:
            continue
        if any(isinstance(n, ast.Raise) for n in ast.walk(node)):
            continue
        text = source.text(node.body[0])
        new = re.sub(r"\s*\bRaises\s[^.]*\.(?=\s|\"\"\")", "", text)
        if new != text:
            source.replace(node.body[0], new) if new.strip('"').strip() else source.remove(node.body[0])
    return source.apply()


def without_constants(source: Source) -> str:
    """Tests of constants, operands that decide nothing, and what comes after a `return`."""
    for node in source.nodes:
        for block in (getattr(node, name, None) for name in ("body", "orelse")):
            if isinstance(block, list):
                unreachable(source, block)
        if isinstance(node, (ast.If, ast.IfExp)) and isinstance(node.test, ast.Constant):
            choose(source, node)
        elif isinstance(node, ast.Compare) and len(node.ops) == 1:
            compare(source, node)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not) and isinstance(node.operand, ast.Constant):
            source.replace(node, str(not node.operand.value))
        elif isinstance(node, ast.BoolOp):
            decide(source, node)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Lambda) and not node.args and not node.keywords:
            source.replace(node, with_brackets(source, node.func.body))
    return source.apply()


def unreachable(source: Source, block: list[ast.stmt]) -> None:
    """A block without what follows its first `return`, `raise`, `continue` or `break`."""
    ends = [n for n, each in enumerate(block) if isinstance(each, (ast.Return, ast.Raise, ast.Continue, ast.Break))]
    for statement in block[ends[0] + 1 :] if ends else ():
        source.remove(statement)


def choose(source: Source, node: ast.If | ast.IfExp) -> None:
    """The side of an `if` that a constant chooses."""
    assert isinstance(node.test, ast.Constant)
    if isinstance(node, ast.IfExp):
        source.replace(node, with_brackets(source, node.body if node.test.value else node.orelse))
    elif not source.text(node).startswith("elif"):
        live = node.body if node.test.value else node.orelse
        if not (live and source.text(live[0]).startswith("elif")):
            source.replace_by_block(node, live)


def compare(source: Source, node: ast.Compare) -> None:
    """The result of a comparison of two constants."""
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


def decide(source: Source, node: ast.BoolOp) -> None:
    """`and` and `or` without constants that decide nothing, or with the one that decides all."""
    neutral = isinstance(node.op, ast.And)
    first, *rest = node.values
    if isinstance(first, ast.Constant):
        text = source.raw[source.element(rest[0])[0] : source.span(node)[1]].decode()
        if bool(first.value) != neutral:
            source.replace(node, source.text(first))
        else:
            source.replace(node, text if len(rest) > 1 else with_brackets(source, rest[0]))
        return
    last = node.values[-1]
    flag = isinstance(last, ast.Constant) and isinstance(last.value, bool) and last.value == neutral
    if flag and is_test(source, node):
        source.edits.append((source.element(node.values[-2])[1], source.span(last)[1], ""))


def is_test(source: Source, node: ast.expr) -> bool:
    """Whether only the truth of an expression matters, or it is a truth value anyhow."""
    above = source.parent[node]
    if isinstance(above, (ast.If, ast.IfExp, ast.While)) and above.test is node:
        return True
    if isinstance(above, ast.comprehension) or (isinstance(above, ast.UnaryOp) and isinstance(above.op, ast.Not)):
        return True
    if isinstance(above, ast.BoolOp):
        return is_test(source, above)
    assert isinstance(node, ast.BoolOp)
    return all(isinstance(value, ast.Compare) for value in node.values[:-1])


def without_unmade_classes(source: Source) -> str:
    """Annotations without the classes that are never made."""
    classes = {n.name for n in source.tree.body if isinstance(n, ast.ClassDef)} - ROOTS
    mentions = [n for n in source.nodes if isinstance(n, ast.Name) and n.id in classes]
    used = {n.id for n in mentions if not in_annotation(source, n)}
    for node in mentions:
        above = source.parent[node]
        if node.id not in used:
            if isinstance(above, ast.BinOp):
                source.replace(above, source.text(above.left if above.right is node else above.right))
            else:
                source.replace(node, "Any")
    return source.apply()


OPERATIONS = (ast.BinOp, ast.BoolOp)


def brackets(source: Source) -> str:
    """Without brackets around what a statement or an argument consists of."""
    for node in source.nodes:
        above = source.parent.get(node)
        if not isinstance(node, ast.expr) or isinstance(node, (ast.GeneratorExp, ast.NamedExpr, ast.Yield)):
            continue
        direct = (ast.Assign, ast.AnnAssign, ast.Return, ast.keyword, ast.Call, ast.Tuple, ast.BinOp, ast.BoolOp)
        if not isinstance(above, direct):
            continue
        if isinstance(above, ast.Call) and above.func is node:
            continue
        if isinstance(above, OPERATIONS) and isinstance(
            node, (*OPERATIONS, ast.UnaryOp, ast.Compare, ast.IfExp, ast.Lambda)
        ):
            continue  # (a + b) * c is another number without them
        start, end = source.span(node)
        before, after = source.raw[:start].rstrip(), source.raw[end:].lstrip()
        first, last = len(before) - 1, len(source.raw) - len(after) + 1
        if (
            re.search(rb"([(,=]|return)\s?\($", before)
            and after.startswith(b")")
            and b"#" not in source.raw[first:last]
        ):
            source.edits.append((first, last, source.text(node)))
    return source.apply()
