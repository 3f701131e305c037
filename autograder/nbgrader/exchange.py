"""Collecting from the exchange: what one student put there costs nobody else, and no link of theirs is followed."""

from __future__ import annotations

import errno
import os
import shutil
import stat
import time
from datetime import datetime
from pathlib import Path
from typing import Any

from nbgrader.exchange.default.collect import ExchangeCollect
from nbgrader.utils import ignore_patterns

from autograder.nbgrader.submission import drop_special
from autograder.nbgrader.timestamps import changed_at, collected_at
from autograder.report.text import one_line

COPYING_S = 60.0  # a submission without a time stamp after that long will never get one
FULL = (errno.ENOSPC, errno.EDQUOT)  # errors of the disk, which would meet every other student too


class Collect(ExchangeCollect):
    """Collects without links. The stock command copies what a link points to, with the instructor's rights.

    A submission that is still being copied waits for the next run; nbgrader writes its time stamp last. One that cannot
    be collected is named, and the others are collected; the stock command ends there.
    """

    src_records: list[dict[str, Any]]

    def init_src(self) -> None:
        """As in the parent class, without submissions that are not complete yet."""
        self.coursedir.get_existing_timestamp = collected_at
        super().init_src()
        self.src_records = [one for one in self.src_records if self._whole(Path(self.inbound_path, one["filename"]))]

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
        """As in the parent class. Raises ExchangeError at the end if there was one that could not be collected."""
        self._failed: list[str] = []
        super().copy_files()
        if self._failed:
            self.fail(f"not collected: {', '.join(self._failed)} (the reasons are above); all others were")

    def _whole(self, folder: Path) -> bool:
        try:
            return (folder / "timestamp.txt").exists() or time.time() - folder.stat().st_mtime > COPYING_S
        except OSError:  # gone or unreadable: leave it to the parent
            return True

    def do_copy(self, src: str, dest: str, log: Any = None) -> None:
        """Copy `src` to `dest` without links and special files; the course's size limits apply as in the parent.

        A submission that cannot be copied is named, and those after it are copied. Raises OSError if the disk is full.
        """
        try:
            self._copy(src, dest)
        except (OSError, RuntimeError) as error:
            shutil.rmtree(dest, ignore_errors=True)  # a part of a submission would be graded as the whole
            if isinstance(error, OSError) and error.errno in FULL:
                raise
            self._failed.append(one_line(os.path.basename(src).rsplit("+", 3)[0]))
            self.log.error("%s was not collected: %s", one_line(src), one_line(str(error)))

    def _copy(self, src: str, dest: str) -> None:
        """Files that may not be read are named and left out; the copy can be changed and deleted, whatever the modes.

        Raises OSError, or RuntimeError if the folder is too large.
        """
        if self.get_size(src) > 1000 * self.coursedir.max_dir_size:
            raise RuntimeError(f"it is larger than CourseDirectory.max_dir_size = {self.coursedir.max_dir_size} kB")
        unwanted = ignore_patterns(
            exclude=self.coursedir.ignore,
            include=self.coursedir.include,
            max_file_size=self.coursedir.max_file_size,
            log=self.log,
        )
        try:
            # symlinks=True copies a link as a link, so one that is swapped in after the listing is not followed either
            shutil.copytree(
                src, dest, symlinks=True, ignore=lambda d, names: [*unwanted(d, names), *_special(d, names)]
            )
        except shutil.Error as error:  # raised after everything else was copied
            for source, _, why in error.args[0]:
                if any(os.strerror(number) in str(why) for number in FULL):
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), dest) from error
                self.log.error("%s was not collected: %s", one_line(str(source)), one_line(str(why)))
        _make_accessible(dest)
        drop_special(dest)


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
