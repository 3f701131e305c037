"""Collecting from the exchange without following a student's links into the instructor's files."""

from __future__ import annotations

import os
import shutil
import stat
import time
from pathlib import Path
from typing import Any

from nbgrader.exchange.default.collect import ExchangeCollect
from nbgrader.utils import ignore_patterns

from autograder.nbgrader.submission import drop_special

COPYING_S = 60.0  # a submission without a time stamp after that long will never get one


class Collect(ExchangeCollect):
    """Collects without links. The stock command copies what a link points to, with the instructor's rights.

    A submission that is still being copied waits for the next run; nbgrader writes its time stamp last.
    """

    src_records: list[dict[str, Any]]

    def init_src(self) -> None:
        """As in the parent class, without submissions that are not complete yet."""
        super().init_src()
        self.src_records = [one for one in self.src_records if self._whole(Path(self.inbound_path, one["filename"]))]

    def _whole(self, folder: Path) -> bool:
        try:
            return (folder / "timestamp.txt").exists() or time.time() - folder.stat().st_mtime > COPYING_S
        except OSError:  # gone or unreadable: leave it to the parent
            return True

    def do_copy(self, src: str, dest: str, log: Any = None) -> None:
        """Copy `src` to `dest` without links and special files; the course's size limits apply as in the parent."""
        if self.get_size(src) > 1000 * self.coursedir.max_dir_size:
            raise RuntimeError(f"{src} is larger than CourseDirectory.max_dir_size = {self.coursedir.max_dir_size} kB")
        unwanted = ignore_patterns(
            exclude=self.coursedir.ignore,
            include=self.coursedir.include,
            max_file_size=self.coursedir.max_file_size,
            log=self.log,
        )
        # symlinks=True copies a link as a link, so one that is swapped in after the listing is not followed either
        shutil.copytree(src, dest, symlinks=True, ignore=lambda d, names: [*unwanted(d, names), *_special(d, names)])
        drop_special(dest)


def _special(folder: str, names: list[str]) -> list[str]:
    def plain(name: str) -> bool:
        """Whether the entry is a plain file or a directory; a link is neither, whatever it points to."""
        mode = os.lstat(os.path.join(folder, name)).st_mode
        return stat.S_ISREG(mode) or stat.S_ISDIR(mode)

    return [name for name in names if not plain(name)]
