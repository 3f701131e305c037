"""Flattens an architecture into one file: every part that it uses, in the order of need, depending on torch alone.

The source is copied with its comments. Names change only if two parts have the same one (BERT's Embeddings and
RoBERTa's), and code for other purposes is left out: tracing, files, the name map of a checkpoint. If one head is
requested, the other heads are left out too, with the methods that nothing calls any more, and dropout is PyTorch's own.
Models inside the model, by default those in its Config, are in the same file, under their names in `SUBMODELS`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

from .. import registry
from .symbols import PACKAGE, Symbol, Uses, found_in, parse_module, uses

ROOTS = ("Config", "PRESETS", "MODEL")
SUBMODELS = (registry.__name__, registry.resolve_submodel.__name__)
CALLED = {"forward", "backward"}  # methods that PyTorch calls
# parts that only make a CPU faster: with one head PyTorch's own replace them, without the `if` that chooses them
PLAIN = {
    ("tfkit.nn.dropout", "Dropout"): "nn.Dropout",
    ("tfkit.nn.dropout", "dropout"): "F.dropout",
    ("tfkit.nn.dropout", "apply_dropout"): "F.dropout",
    ("tfkit.nn.rms_norm", "rms_normalize"): "F.rms_norm",
    ("tfkit.nn.in_place", "multiply"): "torch.mul",
}
RESOLVE = """def {name}(part):
    \"\"\"A model of this file, {{"architecture": its name or a size's, **fields}} -> its name, module and Config.\"\"\"
    settings = dict(part)
    name = settings.pop("architecture")
    if name not in SUBMODELS:
        raise LookupError(f"{{name!r}} is not in this file; there is {{', '.join(SUBMODELS)}}")
    module, preset = SUBMODELS[name]
    return name, module, module.Config(**{{**preset, **settings}})


SUBMODELS = {{}}
for _name, _model, _config, _presets in ({rows}):
    _module = SimpleNamespace(MODEL=_model, Config=_config)
    SUBMODELS |= {{_name: (_module, {{}}), **{{size: (_module, preset) for size, preset in _presets.items()}}}}
"""


@dataclass(frozen=True)
class Edit:
    """An edit of a file: the characters from start to end are replaced by a text."""

    start: int
    end: int
    text: str


def dependencies(roots: list[Symbol], head: str | None, plain: Mapping[Symbol, str]) -> dict[Symbol, Uses]:
    """Every symbol that the roots depend on, directly or indirectly, with its own uses: without those that are `plain`
    PyTorch."""
    known: dict[Symbol, Uses] = {}
    waiting = list(roots)
    while waiting:
        symbol = waiting.pop()
        if symbol[0] == registry.__name__ and symbol != SUBMODELS:
            raise ValueError(f"it asks the registry for {symbol[1]}, which a file alone does not have")
        if symbol not in known and symbol != SUBMODELS and symbol not in plain:
            known[symbol] = uses(symbol, head)
            waiting += [other for _, other in known[symbol].inner]
            waiting += [other for _, table in known[symbol].tables for other in table.values()]
    return known


def submodels(name: str, more: Sequence[str] = ()) -> dict[str, dict[str, Symbol]]:
    """The architectures inside a model, from its Config and from `more` -> for each: MODEL, Config, PRESETS.

    Raises LookupError for the name of no architecture."""
    config = registry.load(name).Config()
    found = [value for value in vars(config).values() if isinstance(value, dict) and "architecture" in value]
    found += [{"architecture": other} for other in more]
    names = dict.fromkeys(registry.resolve_submodel(part)[0] for part in found)
    modules = {name: registry.sources()[name] for name in names}
    places = {name: {root: found_in(module, root) for root in ROOTS} for name, module in modules.items()}
    return {name: {root: place for root, place in roots.items() if place} for name, roots in places.items()}


def flat_names(symbols: dict[Symbol, Uses], first: str) -> dict[Symbol, str]:
    """A unique name for each symbol: its own or, if two have the same one, with its module's name as a prefix; symbols
    of the module `first` keep their own."""
    owners: dict[str, list[str]] = {}
    for module, name in symbols:
        owners.setdefault(name, []).append(module)
    free = {name for name, modules in owners.items() if len(modules) == 1}
    return {s: s[1] if s[1] in free or s[0] == first else with_prefix(*s) for s in symbols}


def with_prefix(module: str, name: str) -> str:
    """A name prefixed with its module's name, in the same case: for the second of two symbols with one name."""
    stem = module.rpartition(".")[2].strip("_")
    if name.isupper():
        return f"{stem.upper()}_{name}"
    return stem.title().replace("_", "") + name if name[0].isupper() else f"{stem}_{name}"


def sort_symbols(symbols: dict[Symbol, Uses], first: str) -> Iterator[str]:
    """The modules of the symbols, each after the modules that it imports."""
    seen: set[str] = set()
    wanted = {module for module, _ in symbols}

    def walk(name: str) -> Iterator[str]:
        if name in seen:
            return
        seen.add(name)
        for source, inside in parse_module(name).inner.values():
            place = found_in(source, inside)
            for module in (source, place[0] if place else f"{source}.{inside}"):
                if module.startswith(tuple(f"{PACKAGE}.{part}" for part in ("nn", "models", "objectives"))):
                    yield from walk(module)
        if name in wanted:
            yield name

    for module in (first, *sorted(wanted)):
        yield from walk(module)


def code(statement: ast.stmt, used: Uses, names: dict[Symbol, str], own: Symbol) -> str:
    """A statement's source text, with the new names."""
    text = used.module.text
    lines = [0]
    for line in text.splitlines(keepends=True):
        lines.append(lines[-1] + len(line.encode()))
    raw = text.encode()

    def at(node: ast.AST, end: bool = False) -> int:
        line, column = (node.end_lineno, node.end_col_offset) if end else (node.lineno, node.col_offset)  # type: ignore[attr-defined]
        return lines[line - 1] + column

    first_line = min([statement, *getattr(statement, "decorator_list", ())], key=lambda n: n.lineno)
    start, end = lines[first_line.lineno - 1], lines[statement.end_lineno or 0]
    edits = [Edit(at(node), at(node, True), names[symbol]) for node, symbol in used.inner]
    edits += [Edit(at(node), at(node, True), "False") for node in used.false_branches]
    for value, table in used.tables:
        rows = ", ".join(f"{head!r}: {names[symbol]}" for head, symbol in table.items())
        edits.append(Edit(at(value), at(value, True), f"{{{rows}}}"))
    blocks = [body for n in ast.walk(statement) if isinstance(body := getattr(n, "body", None), list) and body]
    emptied = [body[0] for body in blocks if all(part in used.removed for part in body)]
    edits += [deletion(node, lines, "pass" if node in emptied else "") for node in used.removed]
    if isinstance(statement, (ast.ClassDef, ast.FunctionDef)) and names[own] != own[1]:
        place = at(statement) + raw[at(statement) :].index(own[1].encode())
        edits.append(Edit(place, place + len(own[1].encode()), names[own]))
    for edit in sorted({e for e in edits if start <= e.start < end}, key=lambda e: -e.start):
        raw = raw[: edit.start] + edit.text.encode() + raw[edit.end :]
        end += len(edit.text.encode()) - (edit.end - edit.start)
    return re.sub(r"\n{3,}", "\n\n", raw[start:end].decode()).rstrip()


def deletion(node: ast.stmt, lines: list[int], instead: str) -> Edit:
    """The edit that removes a statement with its decorators and puts `instead` in its place."""
    first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
    text = " " * node.col_offset + instead + "\n" if instead else ""
    return Edit(lines[first - 1], lines[node.end_lineno or 0], text)


def uncalled_methods(symbols: dict[Symbol, Uses]) -> list[tuple[Uses, ast.FunctionDef]]:
    """The methods that are mentioned nowhere but in their own definitions, or only in those of such methods."""
    methods: list[tuple[Uses, ast.FunctionDef]] = []
    others: list[ast.AST] = []
    for symbol, used in symbols.items():
        for statement in used.module.symbols[symbol[1]]:
            inside = statement.body if isinstance(statement, ast.ClassDef) else []
            own = [n for n in inside if isinstance(n, ast.FunctionDef) and n not in used.removed]
            methods += [(used, method) for method in own]
            others += [n for n in ([*inside] if inside else [statement]) if n not in own and n not in used.removed]
    kept = [(u, m) for u, m in methods if m.name in CALLED or m.name.startswith("__")]
    while True:
        called = {name for node in [*others, *(m for _, m in kept)] for name in mentioned_names(node)}
        more = [pair for pair in methods if pair not in kept and pair[1].name in called]
        if not more:
            return [pair for pair in methods if pair not in kept]
        kept += more


def mentioned_names(node: ast.AST) -> set[str]:
    """The attributes and strings in a piece of code, any of which may name a method."""
    found = {n.attr for n in ast.walk(node) if isinstance(n, ast.Attribute)}
    return found | {n.value for n in ast.walk(node) if isinstance(n, ast.Constant) and isinstance(n.value, str)}


def cut_down(symbols: dict[Symbol, Uses], roots: list[Symbol]) -> dict[Symbol, Uses]:
    """Without the methods that nothing calls, and the symbols that only they needed; what is given stays as it is."""
    symbols = {symbol: copy(used) for symbol, used in symbols.items()}
    for used, method in uncalled_methods(symbols):
        used.removed = [*used.removed, method]
        span = range(method.lineno, (method.end_lineno or 0) + 1)
        used.inner = [(node, symbol) for node, symbol in used.inner if node.lineno not in span]
    reached: dict[Symbol, Uses] = {}
    waiting = list(roots)
    while waiting:
        symbol = waiting.pop()
        if symbol in symbols and symbol not in reached:
            used = reached[symbol] = symbols[symbol]
            waiting += [other for _, other in used.inner]
            waiting += [other for _, table in used.tables for other in table.values()]
    return reached


def resolver(parts: dict[str, dict[str, Symbol]], names: dict[Symbol, str]) -> str:
    """The source of the function that looks up the models within this file, and of its table."""
    rows = [
        f'("{name}", {names[r["MODEL"]]}, {names[r["Config"]]}, {names[r["PRESETS"]]})' for name, r in parts.items()
    ]
    return RESOLVE.format(name=SUBMODELS[1], rows=", ".join(rows) + ",").rstrip()


def flatten(name: str, head: str | None = None, more: Sequence[str] = ()) -> str:
    """The source of a file that defines Config, PRESETS and MODEL of an architecture and imports nothing of tfkit.

    head: the only one to keep; default all. more: further architectures that may be part of the model, besides those
    that its Config names. Raises LookupError for an unknown name or head.
    """
    first = registry.sources().get(name)
    if first is None:
        raise LookupError(f"no architecture {name!r}; there is {', '.join(registry.sources())}")
    if head is not None and head not in registry.load(name).MODEL.HEADS:
        heads = ", ".join(repr(head) for head in registry.load(name).MODEL.HEADS if head)
        raise LookupError(f"{name} has no head {head!r}; there is {heads}")
    roots = [found for root in ROOTS if (found := found_in(first, root))]
    parts = submodels(name, more)
    every = [*roots, *(symbol for part in parts.values() for symbol in part.values())]
    plain = PLAIN if head else {}
    symbols = dependencies(every, head, plain)
    if head is not None:
        symbols = cut_down(symbols, every)
    names = flat_names(symbols, first) | {SUBMODELS: SUBMODELS[1]} | plain
    doc = (ast.get_docstring(ast.parse(parse_module(first).text), clean=False) or "").strip()
    chosen = "" if head is None else f" --head {head}"
    opening = (
        f'"""{doc}\n\nWritten by `tfkit flatten {name}{chosen}`: all of it, in one file that needs torch alone.\n"""'
    )
    ends = [f"{root} = {names[found]}" for root, found in zip(ROOTS, roots, strict=True) if names[found] != root]
    body = [*sections(symbols, names, first), *([resolver(parts, names)] if parts else [])]
    return "\n\n\n".join([opening, imports(symbols, head, parts), *body, *ends]) + "\n"


def imports(symbols: dict[Symbol, Uses], head: str | None, parts: dict[str, Any]) -> str:
    """The import statements of a file."""
    lines = {line for used in symbols.values() for line in used.outer}
    lines |= {"from types import SimpleNamespace"} if parts else set()
    lines |= (
        {"from dataclasses import dataclass", "import torch.nn.functional as F", "from torch import nn"}
        if head
        else set()
    )
    return "from __future__ import annotations\n\n" + "\n".join(
        sorted(lines, key=lambda line: (line.startswith("from"), line))
    )


def sections(symbols: dict[Symbol, Uses], names: dict[Symbol, str], first: str) -> Iterator[str]:
    """The code of the symbols, with a line before the first one of each module."""
    for module in sort_symbols(symbols, first):
        symbols_here = [symbol for symbol in symbols if symbol[0] == module]
        pieces = {
            id(s): (s, symbol) for symbol in symbols_here for s in parse_module(module).symbols[symbol[1]]
        }.values()
        yield f"# --- {module.removeprefix(PACKAGE + '.')}"
        yield from (code(s, symbols[symbol], names, symbol) for s, symbol in sorted(pieces, key=lambda p: p[0].lineno))
