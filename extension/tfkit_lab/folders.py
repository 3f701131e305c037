"""Where courses and their notebooks lie below the server's root."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

MAX_DEPTH = 4
MAX_NOTEBOOKS = 300
# in an instructor's folder only `source` is listed: the others hold copies of it, whatever they are called
_SOURCE, _SETTINGS = "source", "nbgrader_config.py"
_COPIES = {"release", "submitted", "autograded", "feedback"}  # where the settings are elsewhere


def notebooks(root: Path) -> Iterator[Path]:
    """The notebooks below root that may belong to the course, at most MAX_NOTEBOOKS."""
    count = 0
    for folder, folders, files in os.walk(root):
        here = Path(folder)
        depth = len(here.relative_to(root).parts)
        folders[:] = sorted(_to_visit(folders, files)) if depth < MAX_DEPTH else []
        for name in sorted(files):
            if name.endswith(".ipynb") and count < MAX_NOTEBOOKS:
                count += 1
                yield here / name


def _to_visit(folders: list[str], files: list[str]) -> list[str]:
    """Those of a folder's folders that may hold notebooks of the course which are no copies of others."""
    if _SOURCE in folders and _SETTINGS in files:
        return [_SOURCE]
    copies = _COPIES if _SOURCE in folders else set()
    return [name for name in folders if _is_own(name) and name not in copies]


def _is_own(folder: str) -> bool:
    """Whether a folder of this name is a user's, not one of a tool's."""
    return folder[0] not in "._" and folder != "node_modules"


def course_folders(root: Path) -> Iterator[Path]:
    """Folders that hold `source` and `autograded`, as nbgrader keeps them."""
    for folder, folders, _ in os.walk(root):
        here = Path(folder)
        if {"source", "autograded"} <= set(folders):
            yield here
            folders[:] = []
        deep = len(here.relative_to(root).parts) >= MAX_DEPTH
        folders[:] = [] if deep else sorted(filter(_is_own, folders))
