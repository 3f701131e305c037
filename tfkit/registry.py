"""What there is: our own architectures by file name, other people's by entry point. Nothing is imported unasked.

A third party adds one with an entry point of group `tfkit.models` whose value is a module with the names that ours
have: `Config`, `MODEL`, `PRESETS`. Two makers of one name are an error that names both.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType
from typing import Any

GROUP = "tfkit.models"


def sources() -> dict[str, str]:
    """Architecture -> dotted module that defines it, without importing any. Raises ValueError on a clash."""
    files = (Path(__file__).parent / "models").glob("[!_]*.py")
    found = {file.stem: f"{GROUP}.{file.stem}" for file in files}
    for entry in entry_points(group=GROUP):
        if found.setdefault(entry.name, entry.value) != entry.value:
            raise ValueError(
                f"architecture {entry.name!r} is defined twice: by {found[entry.name]} and by {entry.value}"
            )
    return dict(sorted(found.items()))


def architectures() -> list[str]:
    """The names of all architectures, sorted. Imports no torch."""
    return list(sources())


def load(name: str) -> ModuleType:
    """The module of an architecture. LookupError names what there is."""
    found = sources()
    if name not in found:
        raise LookupError(f"no architecture {name!r}; there is {', '.join(found)}")
    return importlib.import_module(found[name])


def resolve(name: str, preset: str | None = None) -> tuple[ModuleType, dict]:
    """The module and the preset's fields of an architecture, or of a published size by its own name ("gpt2-medium").

    Raises LookupError for a name or preset that does not exist, with those that do.
    """
    if name in sources():
        module = load(name)
        if preset is None:
            return module, {}
        if preset not in module.PRESETS:
            raise LookupError(f"{name} has no preset {preset!r}; there is {', '.join(module.PRESETS) or 'none'}")
        return module, module.PRESETS[preset]
    for module in map(load, sources()):
        if name in module.PRESETS and preset is None:
            return module, module.PRESETS[name]
    raise LookupError(f"no architecture or preset {name!r}; architectures are {', '.join(sources())}")


def settle(part: Mapping[str, Any]) -> tuple[str, ModuleType, Any]:
    """A model within a model, {"architecture": a name or a published size, **fields} -> its name, module and Config.

    Raises LookupError for an unknown architecture, TypeError for an unknown field.
    """
    settings = dict(part)
    module, preset = resolve(settings.pop("architecture"))
    name = next(name for name, source in sources().items() if source == module.__name__)
    return name, module, module.Config(**{**preset, **settings})
