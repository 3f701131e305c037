"""Collecting from the exchange: what one student put there costs nobody else, and no link of theirs is followed."""

from __future__ import annotations

import errno
import os
import shutil
import stat
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from nbgrader.exchange import ExchangeError
from nbgrader.exchange.default.collect import ExchangeCollect
from nbgrader.utils import ignore_patterns

from autograder.feedback.text import one_line
from autograder.nbgrader.submission import drop_special
from autograder.nbgrader.timestamps import FILE, changed_at, collected_at

COPYING_S = 60.0  # a submission without a time stamp after that long will never get one
FULL = (errno.ENOSPC, errno.EDQUOT)  # errors of the disk, which would meet every other student too


class NotCollected(ExchangeError):
    """The submissions of `students` could not be collected; all others were."""

    def __init__(self, students: list[str]) -> None:
        super().__init__(
            f"not collected: {', '.join(map(one_line, students))} (the reasons are above); all others were"
        )
        self.students = students


class Collect(ExchangeCollect):
    """Collects without links. The stock command copies what a link points to, with the instructor's rights.

    A submission that is still being copied waits for the next run; nbgrader writes its time stamp last. One that cannot
    be collected is named, and the others are collected; the stock command ends there.
    """

    src_records: list[dict[str, Any]]
    left_out: Collection[str] = ()  # students whose submissions are not collected

    def init_src(self) -> None:
        """As in the parent class, without submissions that are left out or not complete yet."""
        self.coursedir.get_existing_timestamp = collected_at
        super().init_src()
        wanted = [one for one in self.src_records if one["username"] not in self.left_out]
        self.src_records = [one for one in wanted if self._whole(Path(self.inbound_path, one["filename"]))]

    def _path_to_record(self, path: str) -> dict[str, Any]:
        """As in the parent class; a folder whose name holds no time has that of its last change."""
        try:
            record: dict[str, Any] = super()._path_to_record(path)
        except (ValueError, OverflowError, TypeError):
            self.log.warning("%s: its name holds no time: the time of its last change counts", one_line(path))
            name = os.path.basename(path)
            return {"username": name.rsplit("+", 3)[0], "filename": name, "timestamp": _changed_at(path)}
        return record

    def copy_files(self) -> None:
        """As in the parent class, one student after the other. Raises NotCollected at the end if anyone's failed.

        An earlier submission stays until the new one is copied. Raises OSError if the disk is full.
        """
        records, failed = self.src_records, []
        for record in records:
            try:
                self._collect(record)
            except (OSError, RuntimeError) as error:
                if isinstance(error, OSError) and error.errno in FULL:
                    raise
                failed.append(record["username"])
                self.log.error("%s was not collected: %s", one_line(record["filename"]), one_line(str(error)))
        if not records:
            super().copy_files()  # says that there are none
        if failed:
            self.log.fatal(str(NotCollected(failed)))
            raise NotCollected(failed)

    def _collect(self, record: dict[str, Any]) -> None:
        """Copy one submission beside its place, then let the parent class put it there.

        Raises OSError, or RuntimeError if it is too large.
        """
        student, assignment = record["username"], self.coursedir.assignment_id
        place = self.coursedir.format_path(self.coursedir.submitted_directory, student, assignment)
        folder, name = os.path.split(place)
        self._copied = os.path.join(folder, f".{name}.collected")
        self.src_records = [record]
        try:
            if self._is_due(record, place):
                _delete(self._copied)  # left by a command that was killed
                os.makedirs(folder, exist_ok=True)
                self._copy(os.path.join(self.inbound_path, record["filename"]), self._copied, record["timestamp"])
                if os.path.isdir(place):
                    _make_accessible(place)  # else the parent cannot delete it
            super().copy_files()
        finally:
            _delete(self._copied)  # a part of a submission would be graded as the whole

    def _is_due(self, record: dict[str, Any], place: str) -> bool:
        """Whether the parent class will ask for a copy, after it has deleted what is in `place`."""
        if not os.path.isdir(place):
            return True
        before, now = collected_at(place), record["timestamp"]
        return bool(self.update and now > before) or bool(self.before_duedate and now != before)

    def do_copy(self, src: str, dest: str, log: Any = None) -> None:
        """Put the copy in its place."""
        os.rename(self._copied, dest)

    def get_size(self, root: str) -> int:
        """As in the parent class, without files that nobody may look at: they are not copied either."""
        size = 0
        for where, _, files in os.walk(root):
            for name in files:
                with suppress(OSError):
                    size += os.lstat(os.path.join(where, name)).st_size
        return size

    def _whole(self, folder: Path) -> bool:
        try:
            return (folder / "timestamp.txt").exists() or time.time() - folder.stat().st_mtime > COPYING_S
        except OSError:  # gone or unreadable: leave it to the parent
            return True

    def _copy(self, src: str, dest: str, when: datetime) -> None:
        """Copy `src` to `dest` without links and special files; the course's size limits apply as in the parent.

        Files that may not be read are named and left out; the copy can be changed and deleted, whatever the modes. It
        is given the time `when` if it has none of its own, since nothing without one is late.
        Raises OSError, or RuntimeError if the folder is too large.
        """
        with _opened(src) as folder:
            if self.get_size(folder) > 1000 * self.coursedir.max_dir_size:
                raise RuntimeError(f"it is larger than CourseDirectory.max_dir_size = {self.coursedir.max_dir_size} kB")
            try:
                self._copy_plain(folder, dest)
            except shutil.Error as error:  # raised after everything else was copied
                for source, _, why in error.args[0]:
                    if any(os.strerror(number) in str(why) for number in FULL):
                        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), dest) from error
                    where, reason = (str(part).replace(folder, src) for part in (source, why))
                    self.log.error("%s was not collected: %s", one_line(where), one_line(reason))
        _make_accessible(dest)
        drop_special(dest)
        _date(dest, when)

    def _copy_plain(self, src: str, dest: str) -> None:
        """Raises OSError; shutil.Error if only some files could not be copied."""
        unwanted = ignore_patterns(
            exclude=self.coursedir.ignore,
            include=self.coursedir.include,
            max_file_size=self.coursedir.max_file_size,
            log=self.log,
        )
        # symlinks=True copies a link as a link, so one that is swapped in after the listing is not followed either
        shutil.copytree(src, dest, symlinks=True, ignore=lambda d, names: [*unwanted(d, names), *_special(d, names)])


@contextmanager
def _opened(folder: str) -> Iterator[str]:
    """A path to this folder that stays the same folder, whatever a student puts in its place meanwhile.

    Raises OSError if it is a link, which would be followed with the instructor's rights, or no folder.
    """
    try:
        number = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except NotADirectoryError as error:
        raise NotADirectoryError(errno.ENOTDIR, "it is a link or a file, not a folder", folder) from error
    try:
        yield f"/proc/self/fd/{number}"
    finally:
        os.close(number)


def _date(folder: str, when: datetime) -> None:
    """Write the time into the folder, where it has none; the folder's own time of change stays."""
    path, before = os.path.join(folder, FILE), os.stat(folder)
    if not os.path.lexists(path):
        with open(path, "w", encoding="utf-8") as file:
            file.write(when.replace(tzinfo=UTC).isoformat(" "))
        os.utime(folder, ns=(before.st_atime_ns, before.st_mtime_ns))


def _delete(folder: str) -> None:
    if os.path.lexists(folder):
        _make_accessible(folder)
        shutil.rmtree(folder)


def _changed_at(path: str) -> datetime:
    try:
        return changed_at(path)
    except OSError:  # it was deleted meanwhile
        return datetime.min


def _make_accessible(folder: str) -> None:
    """Give the owner of this copy all rights on what is in it: a student may have taken them away."""
    os.chmod(folder, os.lstat(folder).st_mode | stat.S_IRWXU)
    for where, folders, files in os.walk(folder):
        for name in folders + files:
            path = os.path.join(where, name)
            mode = os.lstat(path).st_mode
            if stat.S_ISDIR(mode):
                os.chmod(path, mode | stat.S_IRWXU)
            elif stat.S_ISREG(mode):
                os.chmod(path, mode | stat.S_IRUSR | stat.S_IWUSR)


def _special(folder: str, names: list[str]) -> list[str]:
    def plain(name: str) -> bool:
        """Whether the entry is a plain file or a directory; a link is neither, whatever it points to."""
        mode = os.lstat(os.path.join(folder, name)).st_mode
        return stat.S_ISREG(mode) or stat.S_ISDIR(mode)

    return [name for name in names if not plain(name)]
