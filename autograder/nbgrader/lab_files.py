"""Reads what the lab keeps beside a notebook, in `.tfkit`, and students can edit; and the cells that count it."""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tfkit_course.small_file import MALFORMED, read_small_json, reason

NAMES = re.compile(r'"([^"]+)"')


def names_in_call(source: str, function: str) -> list[str]:
    """The texts that the source of a cell gives this function, in their order."""
    return NAMES.findall(source.partition(f"{function}(")[2])


def read_lab_json(path: Path, most: int) -> Any:
    """The value in a file of a student's `.tfkit`, which must be a folder and no link. Raises as `read_small_json`."""
    if not stat.S_ISDIR(path.parent.lstat().st_mode):
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(path.parent))
    return read_small_json(path, most)


def fault_of(read: Callable[[], object], file: Path, what: str) -> str:
    """What the instructor is told of a file that `read` cannot read; "" if it can, or there is none.

    what: the student's work that it holds, such as `predictions`.
    """
    try:
        read()
    except FileNotFoundError:
        return ""
    except MALFORMED as error:
        why = reason(error) if isinstance(error, OSError | UnicodeDecodeError) else "it is not as the lab writes it"
        return f"{file} cannot be read ({why}): none of its {what} count"
    return ""
