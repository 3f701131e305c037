"""The version of each format in which a course lies on disk: this table alone says what a release reads.

docs/upgrades.md shows it; `python -m tfkit_course.formats docs/upgrades.md` writes the table there. A version grows
when an earlier release would misread a file, and never for a key or a table that is only added.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tfkit_course import NAME

BEGIN, END = "## The formats\n\n", "\n\nEverything that `autograder check --json` prints"  # the table is between them
HEAD = ("what", "where its version is", "now", "a file of an earlier version", "of a later one")
IN_SQLITE = "`user_version` of the SQLite file"
REFUSED = "refused in one line that says what to install; nothing is written"


@dataclass(frozen=True, kw_only=True)
class Format:
    """A row of the table: what it is, where a file says its version, which is written, and what is done with others.

    version: 0 if the format is another project's, or has none. now: what the table shows in its place.
    """

    what: str
    where: str
    version: int = 0
    now: str = ""
    earlier: str = ""
    later: str = ""

    @property
    def row(self) -> str:
        """The row of the page's table."""
        now = self.now or str(self.version or "")
        return f"| {' | '.join((self.what, self.where, now, self.earlier, self.later))} |"


NBGRADER = Format(
    what="notebooks, source and released",
    where="`nbformat`; nbgrader's `schema_version` in each graded cell",
    now="4.5; 3",
    earlier="read, and graded with equal verdicts",
    later="not graded, with the reason; it costs no other student",
)
NOTEBOOK = Format(
    what="our marks in notebooks: `metadata.tfkit` of the notebook (`unit`, `exercises`, `titles`, …) and of cells "
    "(`role`, `exercise`)",
    where="`format` in the notebook's `metadata.tfkit`; without it, 1",
    version=1,
    earlier="missing keys have defaults",
    later="not graded, with the reason, which says what to install; unknown keys alone are ignored, unknown roles run "
    "as plain cells",
)
COURSE_FILE = Format(
    what="`course.toml`",
    where="`format` at its top; without it, 1",
    version=1,
    earlier="read",
    later="refused in one line that says what to install; within a version an unknown key is an error that names it",
)
OTHER_TABLES = Format(
    what="`teams.toml`, `rubric.toml`, `misconceptions.toml`, `lti.toml`",
    where="none: keys are added, and none changes its meaning",
    earlier="read",
    later="read, but for keys that are unknown",
)
GRADEBOOK = Format(
    what="`gradebook.db`, in which tfkit has no tables of its own",
    where="nbgrader's, in its table `alembic_version`",
    now="that of nbgrader 0.9.6",
    earlier="`nbgrader db upgrade`",
    later="nbgrader's own error",
)
RECORDS = Format(
    what="`records.db`: every graded attempt",
    where=IN_SQLITE,
    version=1,
    earlier="0 has the same tables, and is marked as 1",
    later=REFUSED,
)
MARKING = Format(
    what="`marking.db`: marks, requests, shares",
    where=IN_SQLITE,
    version=1,
    earlier="there is none",
    later=REFUSED,
)
RECORD = Format(
    what="records in `records.db`",
    where="`checks`, a hash of all code that makes verdicts",
    earlier="kept, with the grades made of them, until `--regrade`",
    later="the same",
)
KEY = Format(what="`course.key`", where="none: 32 random bytes")
BACKUP = Format(
    what="archives of `autograder backup`",
    where="`version` in their `manifest.json`, which has those of the databases in it, too",
    version=1,
    earlier="there is none",
    later=REFUSED,
)
TRACE = Format(
    what="traces of views in notebooks",
    where="`schema` in the trace",
    version=1,
    now="`tfkit.trace/1`",
    later="named, and not drawn",
)
RECALL = Format(
    what="a student's `.tfkit/recall.json`: answers to questions on earlier units",
    where="`format` in it",
    version=1,
    earlier="there is none",
    later="set aside as `recall.json.old`, in one line; a new one begins",
)
FORMATS = (
    NBGRADER, NOTEBOOK, COURSE_FILE, OTHER_TABLES, GRADEBOOK, RECORDS, MARKING, RECORD, KEY, BACKUP, TRACE, RECALL,
)  # fmt: skip


def too_new(what: str, found: object, reads: Format, release: str = "") -> str:
    """The sentence about a file of a version that this release does not read. release: which wrote it, if known."""
    wanted = f"{NAME} {release} or later" if release else f"a later release of {NAME}"
    return (f"{what} has format {found}, and this release of tfkit reads {reads.version}: install {wanted} "
            "(README.md, “Installing without the checkout”)")  # fmt: skip


def is_newer(found: Any, reads: Format) -> bool:
    """Whether a file says that it has a later version, or what is none."""
    return not isinstance(found, int) or isinstance(found, bool) or found > reads.version


def notebook_fault(notebook: Any) -> str:
    """Why this release cannot read the marks in a notebook that was parsed from JSON; "" if it can.

    Marks that are odd are none: a student may have written anything there.
    """
    found = notebook
    for name in ("metadata", "tfkit", "format"):
        found = found.get(name) if isinstance(found, Mapping) else None
    if isinstance(found, int) and is_newer(found, NOTEBOOK) and not isinstance(found, bool):
        return too_new("its metadata", found, NOTEBOOK)
    return ""


def write_table(page: str) -> str:
    """The page with the table as it is here."""
    before, found, rest = page.partition(BEGIN)
    after = rest.partition(END)[2]
    if not found or not after:
        raise ValueError("the page has no such section")
    head = f"| {' | '.join(HEAD)} |\n{'|---' * len(HEAD)}|"
    return before + BEGIN + "\n".join([head, *(one.row for one in FORMATS)]) + END + after


if __name__ == "__main__":
    path = Path(sys.argv[1])
    path.write_text(write_table(path.read_text(encoding="utf-8")), encoding="utf-8")
