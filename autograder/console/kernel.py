"""What a notebook's kernel has around it: a front end with somebody in front of it, its file, widgets of the lab."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tfkit_course.small_file import NOTEBOOK_BYTES, read_small_json


def has_front_end(shell: Any) -> bool:
    """Whether somebody sees the outputs of this IPython shell: front ends set `allow_stdin` with each cell, and
    programs that run notebooks clear it.
    """
    return bool(getattr(getattr(shell, "kernel", None), "_allow_stdin", False))


def open_notebook(environment: Mapping[str, str]) -> Any:
    """The object of this kernel's notebook, as it was saved. Raises KeyError, OSError or ValueError if it cannot be
    read."""
    return read_small_json(Path(environment["JPY_SESSION_NAME"]).resolve(), NOTEBOOK_BYTES)


def widget_module(name: str) -> Any:
    """A module of the lab, which is above this package and may be absent; None without it, or without a front end."""
    from IPython import get_ipython

    if not has_front_end(get_ipython()):
        return None
    try:
        return importlib.import_module(name)
    except ImportError:
        return None
