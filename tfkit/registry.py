"""Finds plugins: modules of tfkit by file name, third-party ones by entry point. Nothing is imported before it is
needed.

A third party adds an architecture with an entry point of the group `tfkit.models` whose value is a module with the same
names as those here: `Config`, `MODEL`, `PRESETS`. Objectives (`tfkit.objectives`, whose module defines its class as
`OBJECTIVE`) are added likewise. Two providers of one name are an error that names both.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType
from typing import Any

GROUP, OBJECTIVES = "tfkit.models", "tfkit.objectives"
WHAT = {GROUP: "architecture", OBJECTIVES: "objective"}


def sources(group: str = GROUP) -> dict[str, str]:
    """Name of an architecture, or of another plugin in the group -> the module that defines it, without importing any.

    `group` is a package of tfkit and also the name of the entry point group. Raises ValueError on a clash.
    """
    return find_plugins(group, Path(__file__).parent / group.removeprefix("tfkit."), group, WHAT[group])


def find_plugins(package: str, folder: Path, group: str, what: str) -> dict[str, str]:
    """Name -> dotted module, of the modules in the folder of a package and of the entry points of a group.

    what: what the plugins are called in an error. Raises ValueError if two have one name.
    """
    found = {file.stem: f"{package}.{file.stem}" for file in folder.glob("[!_]*.py")}
    for entry in _read_entry_points(group, entry_points):
        if found.setdefault(entry.name, entry.value) != entry.value:
            raise ValueError(f"{what} {entry.name!r} is defined twice: by {found[entry.name]} and by {entry.value}")
    return dict(sorted(found.items()))


@cache
def _read_entry_points(group: str, read: Callable[..., Iterable[EntryPoint]]) -> tuple[EntryPoint, ...]:
    """Third-party entry points, read once, because reading takes milliseconds and every look-up of a name needs them.
    Packages installed while a process runs are seen by the next process."""
    return tuple(read(group=group))


def architectures() -> list[str]:
    """The names of all architectures, sorted. Imports no torch."""
    return list(sources())


def load(name: str, group: str = GROUP) -> ModuleType:
    """The module of an architecture, or of another plugin in the group. Raises LookupError that lists the known
    names."""
    return import_plugin(name, sources(group), WHAT[group])


def import_plugin(name: str, found: Mapping[str, str], what: str) -> ModuleType:
    """The module of a plugin that `find_plugins` found. Raises LookupError that lists the known names."""
    if name not in found:
        raise LookupError(f"no {what} {name!r}; available: {', '.join(found)}")
    return importlib.import_module(found[name])


def resolve(name: str, preset: str | None = None) -> tuple[ModuleType, dict]:
    """The module and preset fields of an architecture, or of a published size by its own name ("gpt2-medium").

    Raises LookupError, listing the known ones, for an unknown name or preset.
    """
    return _resolve(name, preset)[1:]


def resolve_submodel(part: Mapping[str, Any]) -> tuple[str, ModuleType, Any]:
    """A model within a model, {"architecture": a name or a published size, **fields} -> its name, module and Config.

    Raises LookupError for an unknown architecture, TypeError for an unknown field.
    """
    settings = dict(part)
    name, module, preset = _resolve(settings.pop("architecture"))
    return name, module, module.Config(**{**preset, **settings})


def name_of(model: Any) -> str:
    """The architecture of a model. Raises ValueError for a model of no registered architecture."""
    for name, source in sources().items():
        if source.partition(":")[0] == type(model).__module__:
            return name
    raise ValueError(f"{type(model).__name__} is not a registered architecture, so it could not be loaded again")


def _resolve(name: str, preset: str | None = None) -> tuple[str, ModuleType, dict]:
    found = sources()  # once, as every look-up of entry points reads all installed packages
    if name in found:
        module = importlib.import_module(found[name])
        if preset is None:
            return name, module, {}
        if preset not in module.PRESETS:
            raise LookupError(f"{name} has no preset {preset!r}; available: {', '.join(module.PRESETS) or 'none'}")
        return name, module, module.PRESETS[preset]
    for architecture, source in found.items() if preset is None else ():
        module = importlib.import_module(source)
        if name in module.PRESETS:
            return architecture, module, module.PRESETS[name]
    raise LookupError(f"no architecture or preset {name!r}; architectures are {', '.join(found)}")
