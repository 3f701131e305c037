"""Reads a small file that somebody else wrote, such as a student, without following links or waiting for a device."""

from __future__ import annotations

import os
import stat

CHUNK = 1 << 20


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
