"""Dead-argument elimination: parameters and fields that are never read, or always have one value, are removed with the
arguments for them."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from .ast_queries import ROOTS
from .constant_propagation import FOLDABLE
from .observe import Observations, Value
from .rewrite import Source

Parameter = tuple[Any, str]  # of a function (its line and name) or of a class with fields (its name)


def eliminate_dead_arguments(source: Source, observations: Observations) -> str:
    """Removes parameters and fields that are never read, or always have one value, which replaces their name."""
    graph = CallGraph(source, observations)
    removed = graph.removable()
    for owner, definition in graph.definitions.items():
        names = {name for place, name in removed if place == owner}
        if isinstance(definition, ast.FunctionDef) and names:
            for name in names:
                graph.insert_value(definition, name)
            rewrite_signature(source, definition, names)
    for definition, name in ((graph.definitions[place], name) for place, name in removed):
        if isinstance(definition, ast.ClassDef):
            source.remove(next(n for n in definition.body if isinstance(n, ast.AnnAssign) and field_name(n) == name))
    for call in graph.calls:
        bindings = graph.bindings(call)
        elements = [element for element in (*call.args, *call.keywords)]
        dropped = [each for each in elements if bindings.get(each) and bindings[each] <= removed]
        if dropped:
            source.remove_elements(elements, dropped)
    return source.apply()


class CallGraph:
    """The functions of a file, their calls, and which parameter each argument is for."""

    def __init__(self, source: Source, observations: Observations) -> None:
        self.source, self.observed = source, observations
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
        dead = {place for owner in self.definitions for place in self.candidates(owner)}
        bindings = [places for call in self.calls for places in self.bindings(call).values()]
        more = True
        while more:
            kept = {place for places in bindings if not places <= dead for place in places}
            more = bool(dead & kept)
            dead -= kept
        return dead

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
        if found is None or found[0] in FOLDABLE:
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
            uses = [n for n in ast.walk(statement) if isinstance(n, ast.Name) and n.id == name]
            if any(isinstance(n.ctx, ast.Load) for n in uses):
                return True
            if uses:
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


def rewrite_signature(source: Source, definition: ast.FunctionDef, removed: set[str]) -> None:
    """Rewrites the first lines of a function without some parameters."""
    a = definition.args
    defaults = dict(zip([arg.arg for arg in a.args][::-1], a.defaults[::-1], strict=False))
    defaults |= {arg.arg: value for arg, value in zip(a.kwonlyargs, a.kw_defaults, strict=True) if value}

    def parameter_text(arg: ast.arg) -> str:
        text = source.text(arg)
        return text + (
            f"{' = ' if arg.annotation else '='}{source.text(defaults[arg.arg])}" if arg.arg in defaults else ""
        )

    parts = [parameter_text(arg) for arg in a.args if arg.arg not in removed]
    named = [parameter_text(arg) for arg in a.kwonlyargs if arg.arg not in removed]
    star = [f"*{source.text(a.vararg)}"] if a.vararg and a.vararg.arg not in removed else ["*"] if named else []
    parts += [*star, *named, *([f"**{source.text(a.kwarg)}"] if a.kwarg and a.kwarg.arg not in removed else [])]
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
