"""Collecting from the exchange without following a student's links into the instructor's files."""

from __future__ import annotations

import os
import shutil
import stat
from typing import Any

from nbgrader.exchange.default.collect import ExchangeCollect
from nbgrader.utils import ignore_patterns

from autograder.nbgrader.submission import drop_special


class Collect(ExchangeCollect):
    """The stock command copies what a link points to, with the instructor's rights. Here links are left behind."""

    def do_copy(self, src: str, dest: str, log: Any = None) -> None:
        """Copy `src` to `dest` without links and special files; the course's size limits hold as in the parent."""
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
        """Of the entry itself: a link is neither, whatever it points to."""
        mode = os.lstat(os.path.join(folder, name)).st_mode
        return stat.S_ISREG(mode) or stat.S_ISDIR(mode)

    return [name for name in names if not plain(name)]
