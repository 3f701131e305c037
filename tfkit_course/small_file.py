"""Reads a small file that somebody else wrote, such as a student, without following links or waiting for a device.

Nothing else may read or parse what a student can write; `parse_source` does the same for Python code. A test refuses
`read_text`, `json.loads` and `ast.parse` in new places (tests/tfkit_course/test_one_reader.py).
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterable
from typing import Any

CHUNK = 1 << 20
NOTEBOOK_BYTES = 64 << 20  # of a notebook that is read, graded or not; a lesson has 50 kB, or some MB with all outputs
SUBMISSION_BYTES = 50 << 20  # of one that is handed in, so that it can still be read with what grading adds
# what reading such a file as JSON and taking its value apart may raise
MALFORMED = (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError)
MAX_VALUES = 1_000_000  # lists, objects and their items; a lesson with recorded decodings has a tenth


class NotSmallFile(OSError):
    """The path is not a regular file, or the file is too large; the message says which, without the path."""


def read_small(path: str | os.PathLike[str], most: int) -> bytes:
    """The content of a regular file of at most `most` bytes.

    Links and devices are refused and a FIFO is not waited for, as their reader could be led elsewhere or hang for
    ever. Raises NotSmallFile, or OSError if the file is missing or may not be read.
    """
    if stat.S_ISLNK(os.lstat(path).st_mode):  # refused by O_NOFOLLOW too, but with a message about "levels of links"
        raise NotSmallFile("it is a link")
    flags = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    descriptor = os.open(path, os.O_RDONLY | flags)
    try:
        kind = os.fstat(descriptor)
        if stat.S_ISDIR(kind.st_mode):
            raise NotSmallFile("it is a folder, not a file")
        if not stat.S_ISREG(kind.st_mode):
            raise NotSmallFile("it is not a regular file")
        return _read(descriptor, most)
    finally:
        os.close(descriptor)


def _read(descriptor: int, most: int) -> bytes:
    """At most `most` bytes, read in parts: the size that was stated may be wrong, because the file may still grow."""
    found = bytearray()
    while part := os.read(descriptor, CHUNK):
        found += part
        if len(found) > most:
            raise NotSmallFile(f"it is larger than {most:,} bytes")
    return bytes(found)


def read_small_text(path: str | os.PathLike[str], most: int) -> str:
    """The text of such a file, in UTF-8. Raises OSError as `read_small` does, UnicodeDecodeError if it is no text."""
    return read_small(path, most).decode("utf-8")


def reason(error: OSError | ValueError) -> str:
    """Why such a file could not be read, in a few words without its path."""
    if isinstance(error, UnicodeDecodeError):
        return "it is not text in UTF-8"
    if isinstance(error, NotSmallFile) or not isinstance(error, OSError):
        return str(error)
    return error.strerror or str(error)


def parse_json(text: str, values: int = MAX_VALUES) -> Any:
    """`json.loads` of a text that somebody else wrote. Raises ValueError and nothing else.

    A text of commas and brackets takes a hundred times its size as objects, so that they are counted first.
    """
    if sum(map(text.count, "[{,")) > values:
        raise ValueError(f"it holds more than {values:,} values")
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    except MemoryError:
        raise ValueError("it is too large") from None


def read_small_json(path: str | os.PathLike[str], most: int) -> Any:
    """The value in such a file. Raises OSError as `read_small` does, ValueError if it is not JSON of ordinary size."""
    return parse_json(read_small_text(path, most))


def read_notebook_cells(path: str | os.PathLike[str], most: int = NOTEBOOK_BYTES) -> list[dict[str, Any]]:
    """The cells of a notebook file, each with `cell_type`, `source` and `metadata` of the right kinds.

    Raises OSError as `read_small` does, ValueError if it is no notebook.
    """
    return notebook_cells(read_small_json(path, most))


def notebook_cells(found: Any) -> list[dict[str, Any]]:
    """The cells of a notebook that was read from JSON, as `read_notebook_cells` gives them. Raises ValueError."""
    cells = found.get("cells") if isinstance(found, dict) else None
    if not isinstance(cells, list) or not all(map(_is_cell, cells)):
        raise ValueError("it is not a notebook")
    return cells


def _is_cell(cell: Any) -> bool:
    if not isinstance(cell, dict) or not isinstance(cell.get("metadata"), dict):
        return False
    source = cell.get("source")
    is_text = isinstance(source, str) or (isinstance(source, list) and all(isinstance(line, str) for line in source))
    return is_text and isinstance(cell.get("cell_type"), str)


def has_name_of(path: str | os.PathLike[str], user: str) -> bool:
    """Whether a file of a class's shared folder has this user's name: the id, one token without a dot, the suffix.

    Ids may have dots: `ada.lovelace.0123.json` is not the file of `ada`.
    """
    stem = os.path.basename(path).removesuffix(".json").removesuffix(".progress")
    return stem.rpartition(".")[0] == user


def is_of(path: str | os.PathLike[str], user: str) -> bool:
    """Whether a file can be this user's: not if the machine has an account of that name and another one owns the file.

    Where users have no accounts of their own, as in containers, nothing can be said, and the answer is True.
    """
    try:
        import pwd

        return pwd.getpwnam(user).pw_uid == os.lstat(path).st_uid
    except (ImportError, KeyError, ValueError):  # Windows; no such account; no name of one
        return True
    except OSError:  # it was deleted
        return False


def account_of(path: str | os.PathLike[str], user: str) -> str:
    """The name under which a file counts that this user wrote: that of the account that owns it, if the user has none.

    For folders of machines on which users have accounts (`has_accounts`): there an account may invent names.
    """
    try:
        import pwd

        owner = os.lstat(path).st_uid
        return user if _account_owns(path, user) else pwd.getpwuid(owner).pw_name
    except (ImportError, KeyError, OSError):
        return user


def has_accounts(files: Iterable[tuple[str | os.PathLike[str], str]]) -> bool:
    """Whether these files, each with its user, come from a machine on which users have accounts of their own: at least
    two are owned by the account whose name their user has. In containers users have one account in common.
    """
    return len({user for path, user in files if _account_owns(path, user)}) > 1


def _account_owns(path: str | os.PathLike[str], user: str) -> bool:
    try:
        import pwd

        return pwd.getpwnam(user).pw_uid == os.lstat(path).st_uid
    except (ImportError, KeyError, ValueError, OSError):
        return False
