"""The source of earlier exercises' references, for boxes without the library: read with `ast`, never imported.

One hidden module contains only the definitions that are needed; modules such as `tfkit.nn` just re-export names.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.machinery import PathFinder
from pathlib import Path

from autograder.api import Exercise

HIDDEN = "given"  # below the library's own name


class InjectionError(RuntimeError):
    """The references cannot be extracted from the library."""


@dataclass
class _Module:
    """The parsed parts of a module of the library."""

    name: str
    definitions: dict[str, ast.stmt] = field(default_factory=dict)
    outer: dict[str, str] = field(default_factory=dict)  # name -> the import line that makes it
    inner: dict[str, tuple[str, str]] = field(default_factory=dict)  # name -> (module of the library, name there)


def modules(dotted: Sequence[str]) -> dict[str, str]:
    """Importable module sources that hold these references (`module:name`) and nothing else, by module name."""
    references = [_split(reference) for reference in dotted]
    made: dict[str, str] = {}
    for library in dict.fromkeys(module.split(".")[0] for module, _ in references):
        made |= _of_library(library, [one for one in references if one[0].split(".")[0] == library])
    return made


def _of_library(library: str, references: list[tuple[str, str]]) -> dict[str, str]:
    made = {f"{library}.{HIDDEN}": _flat(tuple(references))}
    passed: dict[str, list[str]] = {}
    for module, name in references:
        passed.setdefault(module, []).append(name)
        package = module.rpartition(".")[0]
        # otherwise the package uses that name for something else
        if package and _module(package).inner.get(name, ("", ""))[0] == module:
            passed.setdefault(package, []).append(name)
    for module, names in passed.items():
        made[module] = f"from {library}.{HIDDEN} import {', '.join(names)}\n"
    return made


def source(exercises: Sequence[Exercise]) -> tuple[str, list[str]]:
    """One source that defines these exercises' references, and the names to take from it."""
    references = tuple(_split(dotted) for exercise in exercises for dotted in exercise.references)
    return _flat(references), [symbol for exercise in exercises for symbol in exercise.symbols]


def definition(dotted: str) -> ast.stmt:
    """The node that defines a reference (`module:name`); raises InjectionError if there is none."""
    home, name = _resolve(*_split(dotted))
    return home.definitions[name]


def definitions(text: str) -> set[str]:
    """The functions and classes that a source defines at its top."""
    return {node.name for node in ast.parse(text).body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}


def _split(reference: str) -> tuple[str, str]:
    module, _, name = reference.partition(":")
    return module, name


@lru_cache(maxsize=64)
def _flat(references: tuple[tuple[str, str], ...]) -> str:
    """Every definition that the references need, in an order in which it can be executed."""
    lines: dict[str, None] = {}
    placed: dict[str, tuple[str, str]] = {}
    body: list[str] = []

    def place(module: str, name: str) -> None:
        """Writes a definition after all that it uses; raises InjectionError if two have the same name."""
        home, real = _resolve(module, name)
        if placed.get(real) == (home.name, real):
            return
        if real in placed:
            raise InjectionError(f"{home.name} and {placed[real][0]} both define {real}: rename one of them")
        placed[real] = (home.name, real)
        for used in _names(home.definitions[real]):
            if used in home.outer:
                lines[home.outer[used]] = None
            elif used in home.definitions or used in home.inner:
                place(home.name, used)
        body.append(ast.unparse(home.definitions[real]))

    for module, name in references:
        place(module, name)
    return "\n".join(["from __future__ import annotations", *lines]) + "\n\n\n" + "\n\n\n".join(body) + "\n"


def _resolve(module: str, name: str) -> tuple[_Module, str]:
    home = _module(module)
    if name in home.definitions:
        return home, name
    if name not in home.inner:
        raise InjectionError(f"{module} defines no {name}")
    other, real = home.inner[name]
    if real != name:
        raise InjectionError(f"{module} imports {real} as {name}: import it under its own name")
    return _resolve(other, real)


def _names(node: ast.stmt) -> list[str]:
    """The names that a definition uses, without a function's parameters, which may be called like another."""
    used = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
    if isinstance(node, ast.FunctionDef):
        a = node.args
        own = [*a.posonlyargs, *a.args, *a.kwonlyargs, *filter(None, [a.vararg, a.kwarg])]
        used -= {argument.arg for argument in own}
    return sorted(used)


@lru_cache(maxsize=64)
def _module(name: str) -> _Module:
    path = _path(name)
    module = _Module(name)
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            _read_import(module, node, package)
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            module.definitions[node.name] = node
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            module.definitions.update({target.id: node for target in targets if isinstance(target, ast.Name)})
    return module


def _read_import(module: _Module, node: ast.Import | ast.ImportFrom, package: str) -> None:
    library = module.name.split(".")[0]
    base = ""
    if isinstance(node, ast.ImportFrom):
        parts = package.split(".")
        up = parts[: len(parts) - node.level + 1] if node.level else []
        base = ".".join([*up, *([node.module] if node.module else [])])
    for alias in node.names:
        bound = alias.asname or alias.name.split(".")[0]
        if base.split(".")[0] == library:
            module.inner[bound] = (base, alias.name)
        else:
            renamed = f" as {alias.asname}" if alias.asname else ""
            module.outer[bound] = (
                f"from {base} import {alias.name}{renamed}" if base else f"import {alias.name}{renamed}"
            )


def _path(name: str) -> Path:
    """The path of a module's file, found without running any of its parent packages."""
    path: list[str] | None = None
    origin: str | None = None
    for n in range(1, name.count(".") + 2):
        spec = PathFinder.find_spec(".".join(name.split(".")[:n]), path)
        origin = spec.origin if spec else None
        path = list(spec.submodule_search_locations or []) if spec else []
    if origin is None:
        raise InjectionError(f"there is no module {name}: is the package installed?")
    return Path(origin)
