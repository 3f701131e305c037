"""Names of a package whose modules are imported when the names are first used."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazy_names(package: str, modules: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """-> `__getattr__` and `__dir__` of a package, as its `__init__` defines them.

    package: its `__name__`; modules: for each name the module that defines it, as in `{"fit": "tfkit.train.loop"}`.
    """
    namespace = vars(sys.modules[package])

    def find(name: str) -> Any:
        """The value of a name. Raises AttributeError for a name that the package does not have."""
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = namespace[name] = getattr(import_module(modules[name]), name)  # found at once the next time
        return value

    return find, lambda: sorted({*namespace, *modules})
