"""What a notebook's kernel has around it: a front end with somebody in front of it, and the widgets of the lab."""

from __future__ import annotations

import importlib
from typing import Any


def has_front_end(shell: Any) -> bool:
    """Whether somebody sees the outputs of this IPython shell: front ends set `allow_stdin` with each cell, and
    programs that run notebooks clear it.
    """
    return bool(getattr(getattr(shell, "kernel", None), "_allow_stdin", False))


def widget_module(name: str) -> Any:
    """A module of the lab, which is above this package and may be absent; None without it, or without a front end."""
    from IPython import get_ipython

    if not has_front_end(get_ipython()):
        return None
    try:
        return importlib.import_module(name)
    except ImportError:
        return None
