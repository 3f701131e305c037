"""Landlock: permanently limits this process and its children to the named files, with no TCP and no signals outside."""

from __future__ import annotations

import ctypes
import os
import struct

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1, 2, 4, 8
TRUNCATE, IOCTL_DEV = 1 << 14, 1 << 15
EVERY_FILE_RIGHT = (1 << 16) - 1
READ = EXECUTE | READ_FILE | READ_DIR
ON_A_FILE = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
NEEDED = 6  # the version that can confine signals and abstract sockets: Linux 6.12

LIBC = ctypes.CDLL(None, use_errno=True)


def version() -> int:
    """The kernel's Landlock version; 0 if it has none, or has it switched off."""
    return max(0, LIBC.syscall(CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(1)))


def _checked(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"Landlock, {what}: {os.strerror(number)}")
    return result


def restrict(read: list[str], write: list[str]) -> None:
    """From now on only paths below `read` can be read, and only those below `write` written. Raises OSError.

    Both TCP rights and both scopes are handled and granted to nothing: no connections, no signals to the outside.
    """
    if version() < NEEDED:
        raise OSError(f"Landlock {version()} is too old: {NEEDED} is needed (Linux 6.12)")
    attributes = struct.pack("<QQQ", EVERY_FILE_RIGHT, 3, 3)
    ruleset = _checked(LIBC.syscall(CREATE_RULESET, attributes, ctypes.c_size_t(len(attributes)), ctypes.c_uint32(0)),
                       "ruleset")  # fmt: skip
    for path in read:
        _allow(ruleset, path, READ)
    for path in write:
        _allow(ruleset, path, EVERY_FILE_RIGHT & ~EXECUTE)
    for path in DEVICES:
        _allow(ruleset, path, READ_FILE | WRITE_FILE)
    _checked(LIBC.prctl(38, 1, 0, 0, 0), "no_new_privs")
    _checked(LIBC.syscall(RESTRICT_SELF, ruleset, ctypes.c_uint32(0)), "restrict")
    os.close(ruleset)


def _allow(ruleset: int, path: str, rights: int) -> None:
    if not os.path.exists(path):
        return
    rights &= EVERY_FILE_RIGHT if os.path.isdir(path) else ON_A_FILE
    descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    rule = struct.pack("<Qi", rights, descriptor)
    _checked(LIBC.syscall(ADD_RULE, ruleset, ctypes.c_uint32(1), rule, ctypes.c_uint32(0)), path)
    os.close(descriptor)
