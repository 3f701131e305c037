"""What there is: our own modules by file name, other people's by entry point. Nothing is imported unasked.

A third party adds an architecture with an entry point of group `tfkit.models` whose value is a module with the names
that ours have: `Config`, `MODEL`, `PRESETS`; a claim (`tfkit.claims`, see `tfkit.reproduce`) and an objective
(`tfkit.objectives`, whose module names its class as `OBJECTIVE`) likewise. Two makers of one name are an error that
names both.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType
from typing import Any

GROUP, CLAIMS, OBJECTIVES = "tfkit.models", "tfkit.claims", "tfkit.objectives"
WHAT = {GROUP: "architecture", CLAIMS: "claim", OBJECTIVES: "objective"}


def sources(group: str = GROUP) -> dict[str, str]:
    """Architecture, or what else a group holds, -> dotted module that defines it, without importing any.

    `group` is our own package and the group of other people's entry points. Raises ValueError on a clash.
    """
    files = (Path(__file__).parent / group.removeprefix("tfkit.")).glob("[!_]*.py")
    found = {file.stem: f"{group}.{file.stem}" for file in files}
    for entry in _installed(group, entry_points):
        if found.setdefault(entry.name, entry.value) != entry.value:
            raise ValueError(
                f"{WHAT[group]} {entry.name!r} is defined twice: by {found[entry.name]} and by {entry.value}"
            )
    return dict(sorted(found.items()))


@cache
def _installed(group: str, read: Callable[..., Iterable[EntryPoint]]) -> tuple[EntryPoint, ...]:
    """Other people's entry points, read once: it costs some milliseconds, and every look-up of a name asks. What is
    installed while a process runs is seen by the next one."""
    return tuple(read(group=group))


def architectures() -> list[str]:
    """The names of all architectures, sorted. Imports no torch."""
    return list(sources())


def load(name: str, group: str = GROUP) -> ModuleType:
    """The module of an architecture, or of what else a group holds. LookupError names what there is."""
    found = sources(group)
    if name not in found:
        raise LookupError(f"no {WHAT[group]} {name!r}; there is {', '.join(found)}")
    return importlib.import_module(found[name])


def resolve(name: str, preset: str | None = None) -> tuple[ModuleType, dict]:
    """The module and the preset's fields of an architecture, or of a published size by its own name ("gpt2-medium").

    Raises LookupError for a name or preset that does not exist, with those that do.
    """
    return _resolved(name, preset)[1:]


def resolve_submodel(part: Mapping[str, Any]) -> tuple[str, ModuleType, Any]:
    """A model within a model, {"architecture": a name or a published size, **fields} -> its name, module and Config.

    Raises LookupError for an unknown architecture, TypeError for an unknown field.
    """
    settings = dict(part)
    name, module, preset = _resolved(settings.pop("architecture"))
    return name, module, module.Config(**{**preset, **settings})


def name_of(model: Any) -> str:
    """The architecture of a model. Raises ValueError for a model of none that is registered."""
    for name, source in sources().items():
        if source.partition(":")[0] == type(model).__module__:
            return name
    raise ValueError(f"{type(model).__name__} is not a registered architecture: it could not be loaded again")


def _resolved(name: str, preset: str | None = None) -> tuple[str, ModuleType, dict]:
    found = sources()  # once: whoever looks for entry points reads all that is installed
    if name in found:
        module = importlib.import_module(found[name])
        if preset is None:
            return name, module, {}
        if preset not in module.PRESETS:
            raise LookupError(f"{name} has no preset {preset!r}; there is {', '.join(module.PRESETS) or 'none'}")
        return name, module, module.PRESETS[preset]
    for architecture, source in found.items() if preset is None else ():
        module = importlib.import_module(source)
        if name in module.PRESETS:
            return architecture, module, module.PRESETS[name]
    raise LookupError(f"no architecture or preset {name!r}; architectures are {', '.join(found)}")
