"""Reports what this machine can grade with: sandboxes, devices, versions, and what is missing."""

from __future__ import annotations

import platform
import sys
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from autograder.exercises import registry
from autograder.sandbox import SYSTEM, Backend, SandboxError, backends, choose
from tfkit_course import NAME, install

PACKAGES = {NAME: (), "torch": (), "nbgrader": ("grading",), "jupyterlab": ("lab",), "safetensors": ()}  # by extra


def report() -> tuple[list[str], bool]:
    """The lines to print, and whether students' code can be graded in isolation here: by this machine, and by the
    configuration of the course that the working directory holds, if any."""
    lines = [f"python       {platform.python_version()} ({sys.platform})"]
    lines += [f"{name:12} {_version(name)}" for name in PACKAGES]
    lines.append(f"devices      {_devices()}")
    lines.append(f"exercises    {len(registry.exercises())}")
    for kind in backends():
        lines += _sandbox(kind)
    if not SYSTEM.startswith("linux"):
        lines.append(
            "grading      needs Linux, and so do test cells and hubs; here you can check your own code (--trust)"
        )
    try:
        lines, sound = [*lines, f"in use       {choose().name}"], True
    except SandboxError as error:
        lines, sound = [*lines, f"in use       none: {error}"], False
    course, usable = _course(Path.cwd())
    return [*lines, *course], sound and usable


def _course(folder: Path) -> tuple[list[str], bool]:
    """Whether the course in `folder`, if there is one, has a configuration that grades in a sandbox."""
    if not (folder / "nbgrader_config.py").is_file() or find_spec("nbgrader") is None:
        return [], True
    from autograder.cluster.course import BadCourse, check_course, missing_settings

    try:
        check_course(folder)
    except BadCourse as error:
        return [f"course       REFUSED: {error}"], False
    lines = [f"course       {folder}: its nbgrader_config.py and course.toml are in order"]
    if missing := missing_settings(folder):
        lines.append(f"  of the shipped nbgrader_config.py it lacks, so that defaults count: {', '.join(missing)}")
    return lines, True


def _sandbox(kind: type[Backend]) -> list[str]:
    """Whether the sandbox works here, by a test run, and what it restricts."""
    backend = kind()
    try:
        backend.probe()
        described = backend.describe() | _card(backend)
    except SandboxError as error:
        return [f"sandbox      {kind.name}: not available ({str(error).removeprefix(f'{kind.name}: ')})"]
    finally:
        backend.close()
    isolation = "isolated" if kind.isolated else "NOT ISOLATED, only with --trust"
    return [
        f"sandbox      {kind.name}: {isolation}",
        *(f"  {key}: {value}" for key, value in described.items() if value),
    ]


def _card(backend: Backend) -> dict[str, str]:
    import torch

    from autograder.checks.device import no_gpu_reason

    return {"CUDA": no_gpu_reason(backend) or "works in the sandbox"} if torch.cuda.is_available() else {}


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return f"missing: {install(*PACKAGES[name])}"


def _devices() -> str:
    import torch

    if not torch.cuda.is_available():
        return "cpu (no CUDA device is visible)"
    names = [torch.cuda.get_device_name(index) for index in range(torch.cuda.device_count())]
    return f"cpu, {', '.join(names)}"
