"""Specialises a flat file for one configuration and one head: what they settle is put in, and what they never reach is
left out.

The file is run with a real model and real inputs, with every expression observed (`observe`). Then branches that were
never taken, arguments and attributes that are always the same None, flag or name, checks, and functions without an
effect are removed, as often as there is something to remove. Numbers stay: the file is for every size. A test of
numbers that are not in the configuration, or of a tensor, stays too, unless its other branch raises an error.
"""

from __future__ import annotations

import ast
import logging
import re
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import cycle
from types import ModuleType
from typing import Any

from .observe import Observations, Value, execute, observe
from .rewrite import Source, join_lines, move_columns
from .shorten import shorten_file
from .simplify import ROOTS, SPECIAL

SETTLED = {"NoneType", "bool", "str", "empty"}  # kinds of values that are put in
OF_CONFIGURATION = {"self", "cls", "c", "config"}  # names under which a file has its configuration
OF_TENSORS = {"requires_grad", "is_cuda", "device", "dtype", "training", "type", "grad", "shape", "ndim"}
LOOKUPS = {"getattr", "bool", "isinstance", "hasattr", "get_activation"}
Use = Callable[[ModuleType], Any]
log = logging.getLogger(__name__)


def specialise(text: str, use: Use) -> str:
    """A flat file, for what `use` does with it as a module: it makes the model and calls it."""
    text = textbook(Source(text))
    seen, idle, turns = observe(text, use), 0, cycle((branches, constants, parameters))
    while idle < 3:
        new = attempt(next(turns)(Source(text), seen), text, use)
        idle = 0 if new else idle + 1
        text, seen = new or (text, seen)
    text = join_lines(tidy_sections(text))
    use(execute(compile(text, "flat", "exec")))
    return text


def attempt(new: str, old: str, use: Use) -> tuple[str, Observations] | None:
    """A rewritten file, cleaned if it can be, with what happens in it; None if nothing is new, or if it does not give
    the same any more: such a rewriting is not used."""
    for change in (shorten_file, str):
        try:
            text = change(new)
            if text != old:
                return text, observe(text, use)
        except Exception as error:
            log.debug("a rewriting was not used: %s: %s", type(error).__name__, error)
    return None


def tidy_sections(text: str) -> str:
    """Without the headings of sections that are now empty and without empty lines in a row inside classes, and with
    one import statement for each module."""
    text = re.sub(r"(# --- [\w.]+\n\s*)+(?=# --- )", "", text)
    text = re.sub(r"\n{3,}(?=    )", "\n\n", text)
    return re.sub(r"(?m)^from (\S+) import .*(\nfrom \1 import .*)+$", one_import, text)


def one_import(lines: re.Match[str]) -> str:
    """Import statements of one module as one."""
    names = (line.partition(" import ")[2] for line in lines[0].splitlines())
    return f"from {lines[1]} import {', '.join(names)}"


def textbook(source: Source) -> str:
    """With attention that gives its output alone, and nothing that is remembered between calls."""
    for node in source.nodes:
        if not isinstance(node, ast.FunctionDef):
            continue
        last = node.body[-1]
        if node.name == "attend_by_hand" and isinstance(last, ast.Return) and isinstance(last.value, ast.Tuple):
            source.replace(last.value, source.text(last.value.elts[0]))
            source.replace(node.returns, "Tensor")  # type: ignore[arg-type]
            text = re.sub(r" -> \(output (\[[^]]*\])[^)]*\)", r" -> \1", source.text(node.body[0]))
            source.replace(node.body[0], text)
        elif node.name == "once_per_mask":
            source.replace(last, "return make()")
            for statement in node.body[:-1]:
                source.remove(statement)
    return source.apply()


# --- branches


def branches(source: Source, seen: Observations) -> str:
    """Without the branches that were not taken and the functions that were not called."""
    for node in source.nodes:
        if is_protocol(source, node):
            continue
        if isinstance(node, ast.FunctionDef) and isinstance(source.parent[node], ast.ClassDef):
            if source.index[node] not in seen.entries and node.name not in ("forward", "backward"):
                source.remove(node)
        elif isinstance(node, (ast.If, ast.IfExp)):
            branch(source, seen, node)
        elif isinstance(node, ast.BoolOp):
            operands(source, seen, node)
        elif isinstance(node, ast.Try) and not any(source.index[h.body[0]] in seen.lines for h in node.handlers):
            source.replace_by_block(node, node.body)
        elif isinstance(node, ast.comprehension):
            for test in node.ifs:
                if seen.truths.get(source.index[test]) == {True} and is_settled(source, seen, test):
                    start, end = source.span(test)
                    start = source.raw.rindex(b"if", 0, start)
                    source.edits.append((len(source.raw[:start].rstrip()), end, ""))
    return source.apply()


def is_protocol(source: Source, node: ast.AST) -> bool:
    """Whether a node is in a method that Python itself calls, such as `__getattr__`: it serves more than was seen."""
    inside = node if isinstance(node, ast.FunctionDef) else source.inside(node, ast.FunctionDef)
    name = inside.name if isinstance(inside, ast.FunctionDef) else ""
    return SPECIAL.fullmatch(name) is not None and name not in ("__init__", "__post_init__")


def branch(source: Source, seen: Observations, node: ast.If | ast.IfExp) -> None:
    """An `if` of which one side only is ever taken."""
    truths = seen.truths.get(source.index[node.test], set())
    if len(truths) != 1:
        return
    taken = next(iter(truths))
    if isinstance(node, ast.IfExp):
        if is_settled(source, seen, node.test):
            source.replace(node, in_brackets(source, node.body if taken else node.orelse))
        return
    dead = node.orelse if taken else node.body
    if not (is_settled(source, seen, node.test) or (dead and isinstance(dead[-1], ast.Raise))):
        return
    live = node.body if taken else node.orelse
    if is_elif(source, node):
        put_elif(source, node, live)
    elif live and is_elif(source, live[0]):
        start, end = source.span(live[0])
        text = source.raw[start:end].decode().removeprefix("el")
        source.edits.append((*source.lines(node), " " * node.col_offset + text + "\n"))
    else:
        source.replace_by_block(node, live)


def is_elif(source: Source, node: ast.AST) -> bool:
    """Whether a statement is the `elif` of another."""
    return isinstance(node, ast.If) and source.text(node).startswith("elif")


def put_elif(source: Source, node: ast.If, live: list[ast.stmt]) -> None:
    """An `elif` that is always or never taken: `else` with its block, or what comes after it."""
    start, end = source.lines(node)[0], source.lines(node)[1]
    if live and is_elif(source, live[0]):
        source.edits.append((start, source.span(live[0])[0], " " * node.col_offset))
    elif live:
        first, last = source.lines(live[0])[0], source.lines(live[-1])[1]
        text = move_columns(source.raw[first:last].decode(), node.col_offset + 4)
        source.edits.append((start, end, " " * node.col_offset + "else:\n" + text))
    else:
        source.edits.append((start, end, ""))


def operands(source: Source, seen: Observations, node: ast.BoolOp) -> None:
    """Operands of `and` and `or` that decide nothing, or all."""
    neutral = isinstance(node.op, ast.And)
    for number, value in enumerate(node.values[:-1]):
        truths = seen.truths.get(source.index[value], set())
        if len(truths) != 1 or not is_settled(source, seen, value):
            continue
        if truths == {neutral}:
            start, end = source.span(value)[0], source.span(node.values[number + 1])[0]
            if source.raw[start - 1 : start] != b"(" and source.raw[end - 1 : end] != b"(":
                source.edits.append((start, end, ""))
        elif number == 0:
            source.replace(node, source.text(value))
        return


def is_settled(source: Source, seen: Observations, node: ast.expr) -> bool:
    """Whether a test depends on the configuration and on which arguments are given, and not on numbers or tensors."""
    if isinstance(node, ast.BoolOp):
        return all(is_settled(source, seen, value) for value in node.values if source.index[value] in seen.truths) and (
            source.index[node.values[-1]] not in seen.values or is_settled(source, seen, node.values[-1])
        )
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return is_settled(source, seen, node.operand)
    if isinstance(node, ast.Compare):
        if isinstance(node.ops[0], (ast.Is, ast.IsNot)):
            return True
        return all(is_setting(source, seen, each) for each in (node.left, *node.comparators))
    return is_setting(source, seen, node)


def is_setting(source: Source, seen: Observations, node: ast.expr) -> bool:
    """Whether a value is a name, a flag or a kind, or a number of the configuration."""
    if isinstance(node, ast.Constant):
        return True
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in OF_CONFIGURATION:
        return True
    if isinstance(node, (ast.Tuple, ast.Set, ast.List)):
        return all(is_setting(source, seen, each) for each in node.elts)
    if isinstance(node, ast.Call) and any(is_tensor(source, seen, each) for each in ast.walk(node)):
        return isinstance(node.func, ast.Name) and node.func.id in ("isinstance", "can_read_values")
    kinds = {kind.__name__ for kind in seen.types.get(source.index[node], set())}
    return bool(kinds) and not kinds & {"int", "float", "Tensor", "Parameter"}


def is_tensor(source: Source, seen: Observations, node: ast.AST) -> bool:
    """Whether an expression was ever a tensor."""
    kinds = seen.types.get(source.index.get(node, -1), set())
    return any(kind.__name__ in ("Tensor", "Parameter") for kind in kinds)


def in_brackets(source: Source, node: ast.expr) -> str:
    """An expression's text, in brackets if something around it could take it apart."""
    text = source.text(node)
    closed = (ast.Name, ast.Constant, ast.Attribute, ast.Call, ast.Subscript, ast.Tuple, ast.List, ast.Dict)
    return text if isinstance(node, closed) else f"({text})"


# --- constants


def constants(source: Source, seen: Observations) -> str:
    """With the values of attributes and look-ups that are always the same, and the classes that a call always makes."""
    for node in source.nodes:
        index = source.index[node]
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load) and node.attr not in OF_TENSORS:
            put_constant(source, node, seen.constant(index), SETTLED)
        elif isinstance(node, ast.Call):
            name = node.func.id if isinstance(node.func, ast.Name) else ""
            if name in LOOKUPS or not (node.args or node.keywords or isinstance(source.parent[node], ast.Expr)):
                put_constant(source, node, seen.constant(index), SETTLED | {"symbol"})
            if isinstance(node.func, (ast.Subscript, ast.Attribute)) and "_CLASSES" in source.text(node.func):
                put_constant(source, node.func, seen.constant(source.index[node.func]), {"symbol"})
            elif isinstance(node.func, (ast.Subscript, ast.Attribute)):
                found = seen.constant(source.index[node.func])
                if found and "." not in str(found[1]) and str(found[1])[:1].isupper():
                    put_constant(source, node.func, found, {"symbol"})
            empty_parts(source, seen, [*node.args, *node.keywords])
        elif isinstance(node, (ast.Tuple, ast.List)) and isinstance(node.ctx, ast.Load):
            empty_parts(source, seen, node.elts)
        elif isinstance(node, ast.Dict):
            empty_items(source, seen, node)
    return source.apply()


def put_constant(source: Source, node: ast.expr, value: Value | None, kinds: set[str]) -> None:
    """The constant in place of an expression, if it is of these kinds."""
    if (
        value is None
        or value[0] not in kinds
        or isinstance(source.parent[node], ast.Call)
        and (
            source.parent[node].func is node and value[0] != "symbol"  # type: ignore[attr-defined]
        )
    ):
        return
    text = f'"{value[1]}"' if value[0] == "str" else str(value[1])
    source.replace(node, text)


def empty_parts(source: Source, seen: Observations, elements: list[Any]) -> None:
    """Without `*` and `**` of what is always empty."""
    gone = []
    for each in elements:
        inner = each.value if isinstance(each, ast.Starred) or getattr(each, "arg", "") is None else None
        if inner is not None and is_empty(source, seen, inner):
            gone.append(each)
    if gone:
        source.remove_elements(elements, gone)


def is_empty(source: Source, seen: Observations, node: ast.expr) -> bool:
    """Whether an expression was always an empty list, tuple or dictionary."""
    found = seen.constant(source.index[node])
    return bool(found and found[0] == "empty") or source.text(node) in ("{}", "()", "[]")


def empty_items(source: Source, seen: Observations, node: ast.Dict) -> None:
    """A dictionary without `**` of what is always empty."""
    kept = [(key, value) for key, value in zip(node.keys, node.values, strict=True)]
    left = [(k, v) for k, v in kept if not (k is None and is_empty(source, seen, v))]
    if len(left) < len(kept):
        items = (f"{source.text(k)}: {source.text(v)}" if k else f"**{source.text(v)}" for k, v in left)
        source.replace(node, "{" + ", ".join(items) + "}")


# --- parameters

Parameter = tuple[Any, str]  # of a function (its line and name) or of a class with fields (its name)


def parameters(source: Source, seen: Observations) -> str:
    """Without the parameters and fields that are never read, or always have one value, which is put in."""
    table = Signatures(source, seen)
    gone = table.removable()
    for owner, definition in table.definitions.items():
        mine = {name for place, name in gone if place == owner}
        if isinstance(definition, ast.FunctionDef) and mine:
            for name in mine:
                table.insert_value(definition, name)
            write_signature(source, definition, mine)
    for definition, name in ((table.definitions[place], name) for place, name in gone):
        if isinstance(definition, ast.ClassDef):
            source.remove(next(n for n in definition.body if isinstance(n, ast.AnnAssign) and field_name(n) == name))
    for call in table.calls:
        bindings = table.bindings(call)
        elements = [element for element in (*call.args, *call.keywords)]
        dropped = [each for each in elements if bindings.get(each) and bindings[each] <= gone]
        if dropped:
            source.remove_elements(elements, dropped)
    return source.apply()


class Signatures:
    """The functions of a file, their calls, and which parameter each argument is for."""

    def __init__(self, source: Source, seen: Observations) -> None:
        self.source, self.observed = source, seen
        self.definitions: dict[Any, ast.FunctionDef | ast.ClassDef] = {}
        for node in source.nodes:
            if isinstance(node, ast.FunctionDef):
                first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
                self.definitions[first, node.name] = node
            elif isinstance(node, ast.ClassDef) and node.name not in ROOTS:
                self.definitions[node.name] = node
        self.calls = [node for node in source.nodes if isinstance(node, ast.Call)]
        self.loaded = Counter(n.attr for n in source.nodes if isinstance(n, ast.Attribute))

    def names(self, owner: Any) -> list[str]:
        """The parameters of a function that can be given by position, or the fields of a class."""
        definition = self.definitions[owner]
        if isinstance(definition, ast.ClassDef):
            return [field_name(n) for n in definition.body if isinstance(n, ast.AnnAssign) and not is_class_variable(n)]
        return [arg.arg for arg in (*definition.args.posonlyargs, *definition.args.args)]

    def bindings(self, call: ast.Call) -> dict[ast.AST, set[Parameter]]:
        """For each argument of a call, the parameters that it is for."""
        found: dict[ast.AST, set[Parameter]] = {}
        for kind, owner in self.observed.callees.get(self.source.index[call], ()):
            if kind == "outside" or owner not in self.definitions:
                for each in (*call.args, *call.keywords):
                    found.setdefault(each, set()).add((None, ""))
                continue
            names = self.names(owner)[1 if kind == "method" else 0 :]
            for number, argument in enumerate(call.args):
                if isinstance(argument, ast.Starred):
                    after = names[number:]
                    found.setdefault(argument, set()).update({(None, ""), *((owner, name) for name in after)})
                    break
                found.setdefault(argument, set()).add((owner, names[number]) if number < len(names) else (None, ""))
            for keyword in call.keywords:
                places = [keyword.arg] if keyword.arg else self.every(owner)
                found.setdefault(keyword, set()).update((owner, name) for name in places)
                if keyword.arg is None:
                    found[keyword].add((None, ""))
        return found

    def every(self, owner: Any) -> list[str]:
        """All parameters of a function, or fields of a class."""
        definition = self.definitions[owner]
        more = [] if isinstance(definition, ast.ClassDef) else [arg.arg for arg in definition.args.kwonlyargs]
        return self.names(owner) + more

    def removable(self) -> set[Parameter]:
        """The parameters that can go, together with the arguments for them."""
        gone = {place for owner in self.definitions for place in self.candidates(owner)}
        bindings = [places for call in self.calls for places in self.bindings(call).values()]
        more = True
        while more:
            kept = {place for places in bindings if not places <= gone for place in places}
            more = bool(gone & kept)
            gone -= kept
        return gone

    def candidates(self, owner: Any) -> Iterator[Parameter]:
        """The parameters that are never read or settled, of functions that only this file calls."""
        definition = self.definitions[owner]
        if isinstance(definition, ast.ClassDef):
            if has_fields(definition):
                yield from ((owner, name) for name in self.names(owner) if not self.loaded[name])
            return
        index = self.source.index[definition]
        entries = self.observed.entries.get(index, 0)
        reached = sum(self.observed.reached.get((kind, owner), 0) for kind in ("function", "method"))
        entry = self.is_entry(definition)
        if (
            not entries
            or (entries > reached and not entry)
            or not isinstance(self.source.parent[definition], (ast.Module, ast.ClassDef))
        ):
            return
        a = definition.args
        for arg in (*a.args, *a.kwonlyargs, *filter(None, [a.vararg, a.kwarg])):
            if arg.arg in ("self", "cls") or (entry and arg.arg == "config"):
                continue
            if (
                not self.reads(definition, arg.arg)
                and not (entry and self.varies(definition, arg.arg))
                or self.value(definition, arg.arg)
                and not self.stores(definition, arg.arg)
            ):
                yield owner, arg.arg

    def is_entry(self, definition: ast.FunctionDef) -> bool:
        """Whether it is the model's constructor or its `forward`, which are called from outside."""
        model = re.search(rb"^MODEL = (\w+)", self.source.raw, re.M)
        owner = self.source.parent[definition]
        name = owner.name if isinstance(owner, ast.ClassDef) else ""
        return model is not None and name == model[1].decode() and definition.name in ("__init__", "forward")

    def varies(self, definition: ast.FunctionDef, name: str) -> bool:
        """Whether it had more than one value."""
        return self.constant(definition, name) is None

    def constant(self, definition: ast.FunctionDef, name: str) -> Value | None:
        """The only value that a parameter ever had."""
        found = self.observed.arguments.get(self.source.index[definition], {}).get(name, set())
        only = next(iter(found)) if len(found) == 1 else None
        return only if only and only[0] != "other" else None

    def value(self, definition: ast.FunctionDef, name: str) -> Value | None:
        """The value that is put in: a number only if it is the default or written down at each call."""
        found = self.constant(definition, name)
        if found is None or found[0] in SETTLED:
            return found
        if found[0] == "symbol":
            return None
        owner = next(place for place, each in self.definitions.items() if each is definition)
        given = [each for call in self.calls for each, places in self.bindings(call).items() if (owner, name) in places]
        plain = [each.value if isinstance(each, ast.keyword) else each for each in given]
        return found if all(isinstance(each, ast.Constant) for each in plain) else None

    def reads(self, definition: ast.FunctionDef, name: str) -> bool:
        """Whether a parameter is read before it is written to."""
        for statement in definition.body:
            mine = [n for n in ast.walk(statement) if isinstance(n, ast.Name) and n.id == name]
            if any(isinstance(n.ctx, ast.Load) for n in mine):
                return True
            if mine:
                return not isinstance(statement, (ast.Assign, ast.AnnAssign))
        return False

    def stores(self, definition: ast.FunctionDef, name: str) -> bool:
        """Whether a parameter is written to, or a function inside has another of its name."""
        body = [n for statement in definition.body for n in ast.walk(statement)]
        return any(isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Store) for n in body) or any(
            isinstance(n, ast.arg) and n.arg == name for n in body
        )

    def insert_value(self, definition: ast.FunctionDef, name: str) -> None:
        """The value of a parameter in place of its name."""
        value = None if self.stores(definition, name) else self.value(definition, name)
        if value is None:
            return
        text = f'"{value[1]}"' if value[0] == "str" else str(value[1])
        for statement in definition.body:
            for node in ast.walk(statement):
                if isinstance(node, ast.Name) and node.id == name:
                    self.source.replace(node, text)


def field_name(statement: ast.AnnAssign) -> str:
    """The name of a field."""
    return statement.target.id if isinstance(statement.target, ast.Name) else ""


def is_class_variable(statement: ast.AnnAssign) -> bool:
    """Whether a field belongs to the class."""
    return "ClassVar" in ast.unparse(statement.annotation)


def has_fields(definition: ast.ClassDef) -> bool:
    """Whether it is a dataclass or a named tuple."""
    return "dataclass" in "".join(map(ast.unparse, definition.decorator_list)) or "NamedTuple" in "".join(
        map(ast.unparse, definition.bases)
    )


def write_signature(source: Source, definition: ast.FunctionDef, gone: set[str]) -> None:
    """A function's first lines without some parameters."""
    a = definition.args
    defaults = dict(zip([arg.arg for arg in a.args][::-1], a.defaults[::-1], strict=False))
    defaults |= {arg.arg: value for arg, value in zip(a.kwonlyargs, a.kw_defaults, strict=True) if value}

    def written(arg: ast.arg) -> str:
        text = source.text(arg)
        return text + (
            f"{' = ' if arg.annotation else '='}{source.text(defaults[arg.arg])}" if arg.arg in defaults else ""
        )

    parts = [written(arg) for arg in a.args if arg.arg not in gone]
    named = [written(arg) for arg in a.kwonlyargs if arg.arg not in gone]
    star = [f"*{source.text(a.vararg)}"] if a.vararg and a.vararg.arg not in gone else ["*"] if named else []
    parts += [*star, *named, *([f"**{source.text(a.kwarg)}"] if a.kwarg and a.kwarg.arg not in gone else [])]
    returns = f" -> {source.text(definition.returns)}" if definition.returns else ""
    indent = " " * definition.col_offset
    line = f"def {definition.name}({', '.join(parts)}){returns}:"
    if len(indent + line) > 120:
        line = f"def {definition.name}(\n{indent}    {', '.join(parts)}\n{indent}){returns}:"
        if max(map(len, line.splitlines())) > 120:
            between = f",\n{indent}    "
            line = f"def {definition.name}(\n{indent}    {between.join(parts)},\n{indent}){returns}:"
    start, body = source.span(definition)[0], source.lines(definition.body[0])[0]
    source.edits.append((start, source.raw.rindex(b":", start, body) + 1, line))
