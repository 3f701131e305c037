"""The commands that keep a course: `backup`, `restore`, `status` and `forget`."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from autograder.console import help_texts
from autograder.console.base import BadInput, add_course, lack
from autograder.feedback.text import plain
from autograder.maintenance.archive import BadBackup
from tfkit_course.command_line import add_command

STOPPED = 130
STAYS = (  # what `forget` cannot reach
    "  backups and other copies of this course, and the learning management system with what was sent to it",
    "  the student's own files, and what the Hub and its proxy keep in logs",
)


def add(commands: Any) -> None:
    """Add the commands to the parser."""
    backup = add_command(commands, "backup", help_texts.BACKUP)
    add_course(backup)
    backup.add_argument("file", type=Path, metavar="FILE.zip", help="the archive to write, a new file")
    backup.set_defaults(run=_backup)
    restore = add_command(commands, "restore", help_texts.RESTORE)
    restore.add_argument("file", type=Path, metavar="FILE.zip", help="an archive that `autograder backup` wrote")
    restore.add_argument("directory", type=Path, metavar="NEW_DIR", help="the course directory to write, a new folder")
    restore.set_defaults(run=_restore)
    status = add_command(commands, "status", help_texts.STATUS)
    add_course(status)
    status.add_argument("--json", action="store_true", help="print the numbers as JSON")
    status.set_defaults(run=_status)
    forget = add_command(commands, "forget", help_texts.FORGET)
    forget.add_argument("student", metavar="STUDENT", help="the student's id in the gradebook")
    add_course(forget)
    forget.add_argument("--dry-run", action="store_true", help="only list what would be removed")
    forget.add_argument("--yes", action="store_true", help="do not ask before removing it")
    forget.set_defaults(run=_forget)


def _backup(arguments: argparse.Namespace) -> int:
    try:
        from autograder.maintenance import backup
    except ImportError as error:
        raise BadInput(lack("backup", error, "grading")) from error

    def write(step: Callable[[str, int], None]) -> None:
        report = backup.backup(arguments.course, arguments.file, step)
        for remark in report.remarks:
            print(f"! {plain(remark)}")
        print(f"wrote {arguments.file}: {report.files} files, {_size(report.size)}")
        print("! it holds the course's key, marks and students' work: keep it where only you can read it")

    return _with_progress(write, f"stopped; {arguments.file} was not written")


def _restore(arguments: argparse.Namespace) -> int:
    try:
        from autograder.maintenance import backup
    except ImportError as error:
        raise BadInput(lack("restore", error, "grading")) from error

    def unpack(step: Callable[[str, int], None]) -> None:
        found = backup.restore(arguments.file, arguments.directory, step)
        print(f"wrote {arguments.directory}: the course {found.course} as it was on {found.made}, "
              f"{len(found.files)} files, {_size(found.size)}")  # fmt: skip
        print("next: `autograder doctor` in that folder, then `autograder verify` grades a sample again")

    return _with_progress(unpack, f"stopped; {arguments.directory} was not written")


def _status(arguments: argparse.Namespace) -> int:
    try:
        from autograder.cluster.course import BadCourse
        from autograder.maintenance import overview
    except ImportError as error:
        raise BadInput(lack("status", error, "grading", "cluster")) from error
    from autograder.console.output import make_console

    try:
        found = overview.read(arguments.course.resolve())
    except BadCourse as error:
        raise BadInput(str(error)) from error
    if arguments.json:
        print(json.dumps(found.as_json(), indent=1))
        return 0
    console, (first, *others) = make_console(), overview.lines(found)
    console.print(first, markup=False)
    console.print(overview.table(found))
    for line in others:
        console.print(line, markup=False)
    return 0


def _forget(arguments: argparse.Namespace) -> int:
    try:
        from autograder.cluster.course import BadCourse
        from autograder.cluster.records import CourseBusy
        from autograder.maintenance import forget
    except ImportError as error:
        raise BadInput(lack("forget", error, "grading")) from error
    root, student = arguments.course.resolve(), arguments.student
    try:
        data = forget.find(root, student)
        if not data:
            raise BadInput(f"{arguments.course} holds nothing about a student {student!r}"
                           + (f", but mentions that word in {'; '.join(data.left)}" if data.left else ""))  # fmt: skip
        print("\n".join([f"of {student}, this is removed:", *(f"  {plain(line)}" for line in data.lines(root))]))
        left = (f"  {plain(line)}" for line in [*data.left, *data.unclear])
        print("\n".join(["this stays, and is yours to look at:", *left, *STAYS]))
        if arguments.dry_run or not (arguments.yes or _agrees(student)):
            print("nothing was removed")
            return 0 if arguments.dry_run else 2
        failures = forget.forget(root, data)
    except (BadCourse, CourseBusy, forget.InvalidStudentId, ValueError) as error:
        raise BadInput(str(error)) from error
    if failures:
        raise BadInput(f"all else is removed of {student}, but not {plain('; '.join(failures))}: "
                       "run the same command as a user who may remove it")  # fmt: skip
    print(f"removed what is listed above of {student}")
    return 0


def _agrees(student: str) -> bool:
    """Whether the user types the student's id; without a terminal nobody does."""
    return sys.stdin.isatty() and input(f"this cannot be undone: type {student} to remove it: ").strip() == student


def _with_progress(work: Callable[..., None], stopped: str) -> int:
    """Run `work` with a function to call after each part of a file, whose progress a terminal shows; Ctrl-C prints
    `stopped`. Raises BadInput."""
    from rich.progress import DownloadColumn, Progress, SpinnerColumn, TextColumn

    from autograder.console.output import make_console

    console = make_console()
    columns = SpinnerColumn(), DownloadColumn(), TextColumn("{task.fields[path]}", markup=False)
    try:
        with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
            task = progress.add_task("", path="", total=None)
            work(lambda path, count: progress.update(task, advance=count, path=path))
    except BadBackup as error:
        raise BadInput(str(error)) from error
    except KeyboardInterrupt:
        print(stopped)
        return STOPPED
    return 0


def _size(count: int) -> str:
    return f"{count / 1e6:.1f} MB"
