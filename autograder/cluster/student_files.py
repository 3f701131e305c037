"""The files of a submission besides its notebooks: which there are, and their copies beside the graded notebook."""

from __future__ import annotations

import errno
import os
import shutil
import stat
from collections.abc import Collection, Mapping
from pathlib import Path

from nbgrader.utils import find_all_files, rmtree

from autograder.cluster.bundle import ReleasedNotebook
from autograder.feedback.text import one_line
from autograder.nbgrader.config import AGENTS, ASSISTANTS_LOG
from autograder.nbgrader.rebuild import grade_id
from autograder.nbgrader.submission import UnreadableNotebook, parse, text_of

EXPECTED = ("timestamp.txt", "submission_secret.txt", AGENTS, ASSISTANTS_LOG)  # nbgrader's, and those of assistants
MAX_NAMES = 4  # of files in a message
FULL = (errno.ENOSPC, errno.EDQUOT)  # errors of the disk, not of a student's file


def copy_submitted(source: str, target: Path, ignore: Collection[str]) -> None:
    """Copy the submitted files that are no notebooks, as nbgrader does, but no links and nothing that cannot be read.

    Raises OSError if the disk is full.
    """
    for file in find_all_files(source, [*ignore, "*.ipynb"]):
        name = os.path.relpath(file, source)
        try:
            if stat.S_ISREG(os.lstat(file).st_mode):
                make_way(target, Path(name))
                shutil.copy(file, target / name, follow_symlinks=False)
        except OSError as error:  # its mode, the length of its path: the notebook is graded all the same
            if error.errno in FULL:
                raise


def unreadable_files(folder: Path) -> list[str]:
    """The files and folders in a submission that this process may not read, by their paths in it."""
    found = []
    for where, folders, files in os.walk(folder):
        paths = [Path(where, name) for name in folders + files]
        found += [str(path.relative_to(folder)) for path in paths if not os.access(path, os.R_OK)]
    return sorted(found)


def other_files(folder: Path, names: Collection[str]) -> list[str]:
    """What a submission holds besides the notebooks of these names and the files that belong to each, sorted."""
    usual = {*(f"{name}.ipynb" for name in names), *EXPECTED}
    try:
        there = sorted(os.listdir(folder))
    except OSError:
        return []
    return [name for name in there if name not in usual and not name.startswith(".")]


def missing_notebook(name: str, others: Collection[str]) -> str:
    """The line about a submission without this notebook: what it holds instead."""
    shown = [one_line(one) for one in list(others)[:MAX_NAMES]]
    more = f" and {len(others) - MAX_NAMES} more" if len(others) > MAX_NAMES else ""
    return f"no notebook {name}.ipynb (found: {', '.join(shown) or 'nothing'}{more})"


def take_renamed(folder: Path, released: Mapping[str, ReleasedNotebook]) -> str:
    """Give a notebook that was handed in under another name its own; what was done, "" if nothing was.

    Only where one is missing and one other is there, with at least one released cell in it.
    """
    missing = [name for name in released if not os.path.lexists(folder / f"{name}.ipynb")]
    others = [name for name in other_files(folder, released) if name.endswith(".ipynb")]
    if len(missing) != 1 or len(others) != 1 or not _is_of(folder / others[0], released[missing[0]]):
        return ""
    try:
        (folder / others[0]).rename(folder / f"{missing[0]}.ipynb")
    except OSError as error:  # such as a folder that may not be changed
        return f"{one_line(others[0])} could not be renamed {missing[0]}.ipynb: {error.strerror}"
    return f"{one_line(others[0])} was renamed {missing[0]}.ipynb"


def _is_of(path: Path, released: ReleasedNotebook) -> bool:
    try:
        cells = parse(text_of(path)).cells
    except UnreadableNotebook:
        return False
    return not {cell.name for cell in released.cells}.isdisjoint(map(grade_id, cells))


def make_way(target: Path, name: Path) -> None:
    """Make the folder of `target / name`, and delete what is there: a student may have had a folder of that name, or a
    file where a folder must be."""
    for parent in reversed(name.parents):
        if os.path.lexists(target / parent) and not (target / parent).is_dir():
            (target / parent).unlink()
    (target / name).parent.mkdir(parents=True, exist_ok=True)
    if (target / name).is_dir():
        rmtree(str(target / name))
    (target / name).unlink(missing_ok=True)
