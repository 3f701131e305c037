"""What commands share: arguments that several take, and how one that cannot be carried out ends."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from autograder.console import error_messages, help_texts
from autograder.feedback.text import plain
from tfkit_course import install

POSIX = ("fcntl", "grp", "pwd", "resource", "termios")  # modules of Python's that Windows does not have

LAST_SEED = (1 << 32) - 1


class BadInput(Exception):
    """The request cannot be carried out; the message says what was wrong, where, and what to do."""


def exit_status(run: Callable[[], int], where: str, *refusals: type[Exception]) -> int:
    """The exit status of a command; 2, with one line on standard error, for what its user can mend.

    where: what an error of the machine is about if it names no file; refusals: raised with a line for the user, like
    BadInput. Raises whatever else `run` raises.
    """
    expected: tuple[type[Exception], ...] = (BadInput, *refusals)
    try:
        return run()
    except expected as error:
        message: str | None = str(error)
    except BrokenPipeError:  # `autograder list | head`
        return 0
    except Exception as error:
        message = error_messages.explain(error, where)
        if message is None:
            raise
    print(plain(f"autograder: {message}"), file=sys.stderr)
    return 2


def lack(command: str, error: ImportError, *extras: str) -> str:
    """Why a command cannot be loaded: a module that only POSIX has, or a package of these extras."""
    if error.name in POSIX:
        return f"`autograder {command}` needs Linux, or WSL 2 on Windows: Python has no {error.name} on this system"
    return f"`autograder {command}` needs {error.name}: {install(*extras)}"


def positive(text: str, what: str = "workers") -> int:
    """The type of an argument that is a number of `what`. Raises ArgumentTypeError."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of {what}")
    return int(text)


def seed_number(text: str) -> int:
    """The type of an argument that is a seed of torch's generators. Raises ArgumentTypeError."""
    if not (text.isdecimal() and len(text) <= len(str(LAST_SEED)) and int(text) <= LAST_SEED):
        raise argparse.ArgumentTypeError(f"a seed is a whole number from 0 to {LAST_SEED}, not {text[:40]!r}")
    return int(text)


def add_course(command: argparse.ArgumentParser) -> None:
    """Add the argument `course`."""
    command.add_argument("course", type=Path, metavar="COURSE_DIR", help=help_texts.COURSE_DIR)


def add_assignment(command: argparse.ArgumentParser) -> None:
    """Add the argument `assignment`."""
    command.add_argument("assignment", metavar="ASSIGNMENT", help=help_texts.ASSIGNMENT)


def add_workers(command: argparse.ArgumentParser, address: str) -> None:
    """Add --workers and --scheduler, of which one may be given. address: an example for the help."""
    where = command.add_mutually_exclusive_group()
    where.add_argument("--workers", type=positive, metavar="N", help=help_texts.WORKERS)
    where.add_argument("--scheduler", metavar="ADDRESS", help=f"use the workers of a Dask scheduler, such as {address}")
