"""Lets an interrupted run be resumed: a lock for each submission being graded, and a check of the gradebook first.

nbgrader skips a student whose `autograded` folder exists. A killed grader leaves such a folder half written, and the
student would never get a grade. So each submission being graded has a lock file, which the kernel releases when the
process dies; the next run removes the folders whose lock nobody holds.
A submission that kills its grader would kill every later run as well, and the students after it would never be graded.
The deaths are counted, and after two of them the submission is left for manual grading.
"""

from __future__ import annotations

import atexit
import fcntl
import hashlib
import os
import re
import shutil
import socket
from pathlib import Path
from typing import Any

import sqlalchemy
from nbgrader.api import Gradebook, MissingEntry
from nbgrader.converters import NbGraderException
from traitlets import log as traitlets_log

from autograder.console.error_messages import SERVER_ADVICE
from autograder.feedback.text import plain

LOCKS = ".grading"
DEATHS = "deaths"  # the folder in LOCKS of files with one line per killed grader
MAX_ENDED_GRADERS = 2  # graders that a submission may have ended
STOPPED = "stopped"  # what a grader that is stopped normally, for example by Ctrl-C, writes into its locks
_held: dict[Path, int] = {}


def begin(source: str) -> None:
    """Record that the submission in `source` (as nbgrader names it, from the course's folder) is being graded."""
    release()
    path = Path(LOCKS) / _name(source)
    path.parent.mkdir(exist_ok=True)
    descriptor = _locked(path, source)
    os.ftruncate(descriptor, 0)
    os.write(descriptor, f"{source}\n{os.getpid()} on {socket.gethostname()}".encode())
    _held[path.absolute()] = descriptor


def _name(source: str) -> str:
    return hashlib.sha256(source.encode()).hexdigest()[:16]


@atexit.register
def _stop() -> None:
    """Tells the next run that this one was not killed by what it was grading."""
    for descriptor in _held.values():
        os.write(descriptor, f"\n{STOPPED}".encode())


def killed_too_often() -> bool:
    """Whether the current submission has killed so many graders that it must not be graded again."""
    return any(_deaths(path) >= MAX_ENDED_GRADERS for path in _held)


def _deaths(lock: Path) -> int:
    try:
        return (lock.parent / DEATHS / lock.name).read_text(encoding="utf-8").count("\n")
    except FileNotFoundError:
        return 0


def _count_death(lock: Path) -> None:
    folder = lock.parent / DEATHS
    folder.mkdir(exist_ok=True)
    with (folder / lock.name).open("a", encoding="utf-8") as file:
        file.write(lock.read_text(encoding="utf-8").replace("\n", ", ") + "\n")


def _locked(path: Path, source: str) -> int:
    """The open, locked lock file; where another grader holds it, logs which one before waiting."""
    while True:
        descriptor = os.open(path, os.O_CREAT | os.O_RDWR)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            _, _, who = os.pread(descriptor, 1 << 12, 0).decode("utf-8", "replace").partition("\n")
            traitlets_log.get_logger().warning("%s is being graded by process %s: waiting for it", source, who or "?")
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        if _is_at(path, descriptor):
            return descriptor
        os.close(descriptor)  # the holder has finished and removed it; a file of that name is a new one


def _is_at(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


def release(**_: Any) -> None:
    """nbgrader's `post_convert_hook`: the current submission has been graded."""
    for path, descriptor in list(_held.items()):
        (path.parent / DEATHS / path.name).unlink(missing_ok=True)
        path.unlink(missing_ok=True)
        os.close(descriptor)
        del _held[path]


def clear(converter: Any) -> None:
    """Remove what a killed run left half written, so that this run grades it."""
    root = Path(converter.coursedir.root)
    for lock in sorted((root / LOCKS).glob("*")):
        if lock.is_dir() or _is_held(lock):
            continue
        if not lock.read_text(encoding="utf-8").endswith(f"\n{STOPPED}"):
            _count_death(lock)
        pattern = converter._format_source("(?P<assignment>.*)", "(?P<student>.*)", escape=True)
        found = re.match(pattern, lock.read_text(encoding="utf-8").partition("\n")[0])
        if found is not None:
            folder = root / converter._format_dest(found["assignment"], found["student"])
            converter.log.warning("%s was left half graded by a run that was killed; it will be graded again", folder)
            shutil.rmtree(folder, ignore_errors=True)
        lock.unlink(missing_ok=True)


def _is_held(lock: Path) -> bool:
    with lock.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def writable(converter: Any) -> None:
    """Where the gradebook is not writable, log the reason in one line and raise NbGraderException."""
    engine = sqlalchemy.create_engine(converter.coursedir.db_url)
    try:
        with engine.connect() as connection:
            if engine.dialect.name == "sqlite":
                number = connection.exec_driver_sql("PRAGMA user_version").scalar()
                connection.exec_driver_sql("BEGIN IMMEDIATE")
                connection.exec_driver_sql(f"PRAGMA user_version = {number}")  # BEGIN alone does not need write access
                connection.exec_driver_sql("ROLLBACK")
    except sqlalchemy.exc.DBAPIError as error:
        message = " ".join(str(error.orig).split())  # an unreachable server gives several lines
        cure = "Close the program that has locked it, or give yourself write permission"
        if engine.dialect.name != "sqlite":
            cure = SERVER_ADVICE[0].upper() + SERVER_ADVICE[1:]
        what = f"the gradebook {engine.url.render_as_string()} cannot store grades: {message.rstrip('.')}. {cure}; "
        what += "then run again. Nothing was changed."
        converter.log.error(what)  # nbgrader exits without a message on this exception
        raise NbGraderException(what) from None
    finally:
        engine.dispose()


def report_renamed_files(converter: Any) -> None:
    """Say which students handed in a file under a name that the assignment does not have."""
    with Gradebook(converter.coursedir.db_url, converter.coursedir.course_id) as gradebook:
        for folder, files in sorted(converter.assignments.items()):
            try:
                assignment = gradebook.find_assignment(Path(folder).name)
            except MissingEntry:
                continue  # nbgrader reports it itself
            wanted = {f"{notebook.name}.ipynb" for notebook in assignment.notebooks}
            there = {Path(file).name for file in files}
            if wanted - there and there - wanted:
                converter.log.error(
                    "%s holds %s, not %s: rename it, then grade again",
                    folder, plain(", ".join(sorted(there - wanted))), ", ".join(sorted(wanted - there)),
                )  # fmt: skip
