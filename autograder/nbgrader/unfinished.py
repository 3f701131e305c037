"""What lets a run that was cut short be finished: a lock per submission in work, and a look at the gradebook first.

nbgrader skips a student whose `autograded` folder exists. A grader that is killed leaves such a folder, half made, and
the student without a grade for ever. Here each submission in work has a lock file, which the kernel lets go when its
process dies; the next run removes the folders of those that nobody holds.

A submission that ended its grader twice would end every run to come, and nobody behind it would ever be graded. How
often it did is counted, and the third time it is left for a person.
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

from autograder.report.text import plain
from autograder.trouble import AWAY

LOCKS = ".grading"
DEATHS = "deaths"  # the folder in LOCKS of files in which each grader that was killed is a line
ENOUGH = 2  # graders that a submission may have ended
STOPPED = "stopped"  # what a grader that ends in an orderly way, by Ctrl-C for example, adds to the locks it holds
_held: dict[Path, int] = {}


def begin(source: str) -> None:
    """Note that the submission in `source` (as nbgrader names it, from the course's folder) is in work."""
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


def deadly() -> bool:
    """Whether the submission in work has ended so many graders that it is not to be graded again."""
    return any(_deaths(path) >= ENOUGH for path in _held)


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
    """The open lock file, held; where another grader has it, who that is is said before the wait."""
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
        os.close(descriptor)  # its holder is done and has removed it: the file of that name is another one


def _is_at(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


def release(**_: Any) -> None:
    """nbgrader's `post_convert_hook`: the submission that was in work is done."""
    for path, descriptor in list(_held.items()):
        (path.parent / DEATHS / path.name).unlink(missing_ok=True)
        path.unlink(missing_ok=True)
        os.close(descriptor)
        del _held[path]


def clear(converter: Any) -> None:
    """Remove what a killed run left half made, so that this one grades it."""
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
            converter.log.warning("%s was left half graded by a run that was killed; it is graded again", folder)
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
    """Log in one line why the gradebook takes no grades, where it takes none, and raise NbGraderException."""
    engine = sqlalchemy.create_engine(converter.coursedir.db_url)
    try:
        with engine.connect() as connection:
            if engine.dialect.name == "sqlite":
                number = connection.exec_driver_sql("PRAGMA user_version").scalar()
                connection.exec_driver_sql("BEGIN IMMEDIATE")
                connection.exec_driver_sql(f"PRAGMA user_version = {number}")  # BEGIN alone does not ask for the right
                connection.exec_driver_sql("ROLLBACK")
    except sqlalchemy.exc.DBAPIError as error:
        said = " ".join(str(error.orig).split())  # a server that is away is told of in several lines
        cure = "Close what holds it, or give yourself the right to write"
        if engine.dialect.name != "sqlite":
            cure = AWAY[0].upper() + AWAY[1:]
        what = f"the gradebook {engine.url.render_as_string()} takes no grades: {said.rstrip('.')}. {cure}; then run "
        what += "again. Nothing was changed."
        converter.log.error(what)  # nbgrader ends without a word on this exception
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
                continue  # nbgrader says so itself
            wanted = {f"{notebook.name}.ipynb" for notebook in assignment.notebooks}
            there = {Path(file).name for file in files}
            if wanted - there and there - wanted:
                converter.log.error(
                    "%s holds %s, not %s: rename it, then grade again",
                    folder, plain(", ".join(sorted(there - wanted))), ", ".join(sorted(wanted - there)),
                )  # fmt: skip
