"""What this machine can grade with: sandboxes, devices, versions, and what is missing."""

from __future__ import annotations

import platform
import sys
from importlib.metadata import PackageNotFoundError, version

from autograder import registry
from autograder.sandbox import SandboxError, backends, choose

PACKAGES = ("tfkit", "torch", "nbgrader", "jupyterlab", "safetensors")


def report() -> tuple[list[str], bool]:
    """The lines to print, and whether students' code can be graded in isolation here."""
    lines = [f"python       {platform.python_version()} ({sys.platform})"]
    lines += [f"{name:12} {_version(name)}" for name in PACKAGES]
    lines.append(f"devices      {_devices()}")
    lines.append(f"exercises    {len(registry.exercises())}")
    for kind in backends():
        lines.append(f"sandbox      {kind.name}: {'isolated' if kind.isolated else 'NOT ISOLATED, only with --trust'}")
    try:
        backend = choose()
    except SandboxError as error:
        return [*lines, f"in use       none: {error}"], False
    lines.append(f"in use       {backend.name}")
    lines += [f"  {key}: {value}" for key, value in backend.describe().items()]
    return lines, True


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return f"missing: pip install {name}"


def _devices() -> str:
    import torch

    if not torch.cuda.is_available():
        return "cpu (no CUDA device is visible)"
    names = [torch.cuda.get_device_name(index) for index in range(torch.cuda.device_count())]
    return f"cpu, {', '.join(names)}"
