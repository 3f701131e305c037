"""Exports scores in the file formats of Canvas, Moodle and Gradescope, or as plain CSV.

Questions that are not marked yet stay blank, since a zero would count; so does the student's total, unless `partial`
asks for the total so far. Canvas and Moodle add columns up themselves. With a column per question they therefore get
the late penalty as a negative column that is worth no points, and no total.
"""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
import tempfile
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from autograder.cluster.scores import ExportError, Scores, StudentScores, read
from autograder.feedback.files import write_new

Cell = str | float | None
# a cell that starts like a formula, or contains one after a character that a spreadsheet may take for a separator
SIGNS = r"=+\-@\uff1d\uff0b\uff0d\uff20"  # the full-width ones too, which Excel reads in some languages
FORMULA = re.compile(rf"^(?=[{SIGNS}\t\r\n])|(?<=[;\t\r\n])(?=[{SIGNS}])")
DIGITS = 6  # after the point; sums of floats have noise such as 0.30000000000000004
PENALTY = "late penalty"


def write(scores: Scores, to: str, output: Path, per_question: bool = False, partial: bool = False) -> list[str]:
    """Write `scores` for `to` (canvas, moodle, gradescope, csv) at `output`, which must be new; what was left blank.

    Raises ExportError.
    """
    blank = [] if partial else [row for row in scores.rows if row.waits]
    kept = scores if partial else replace(scores, rows=[_final(row) for row in scores.rows])
    try:
        if to == "gradescope":
            _results(kept, output, per_question)
        else:
            text = as_csv({"canvas": canvas, "moodle": moodle, "csv": plain}[to](kept, per_question))
            write_new(output, text.encode("utf-8-sig" if to == "csv" else "utf-8"))  # Excel needs the mark, an LMS not
    except FileExistsError:
        raise ExportError(f"{output} exists: name a new file, or delete it") from None
    except OSError as error:
        raise ExportError(f"{output} cannot be written: {error.strerror}") from None
    what = "get no file" if to == "gradescope" else "have no total in it"
    return [f"{len(blank)} of them {what}: mark them, or write what is marked so far with --partial"] if blank else []


def _final(row: StudentScores) -> StudentScores:
    return PartialScores(**vars(row)) if row.waits else row


class PartialScores(StudentScores):
    """A student's scores while the total is not known yet."""

    @property
    def raw(self) -> None:
        """Not known before all is marked."""

    @property
    def total(self) -> None:
        """Not known before all is marked."""


def safe(cell: Cell) -> Cell:
    """Text that a spreadsheet would run as a formula gets an apostrophe in front, as OWASP advises; numbers stay.

    Inside a cell too: a spreadsheet that expects semicolons or tabs between cells cuts it there.
    """
    return FORMULA.sub("'", cell) if isinstance(cell, str) else cell


def as_csv(rows: Iterable[list[Cell]]) -> str:
    """The text of a CSV file (RFC 4180), each cell `safe`, numbers rounded to six decimals."""
    text = io.StringIO()
    csv.writer(text).writerows([safe(_rounded(cell)) for cell in row] for row in rows)
    return text.getvalue()


def _rounded(cell: Cell) -> Cell:
    return round(cell, DIGITS) if isinstance(cell, float) else cell


# -- tables ------------------------------------------------------------------------------------------------------------
def plain(scores: Scores, per_question: bool) -> list[list[Cell]]:
    """A header, a row per student: who, when, points by question if asked for, their sum, penalty, total, maximum."""
    titles = [question.title for question in scores.questions] if per_question else []
    header = ["assignment", "student_id", "last_name", "first_name", "email", "submitted", *titles]
    table: list[list[Cell]] = [[*header, "raw_score", "late_penalty", "score", "max_score"]]
    for row in scores.rows:
        who: list[Cell] = [scores.assignment, row.student, row.last_name, row.first_name, row.email, row.submitted]
        points: list[Cell] = [None] * len(titles) if row.points is None else [*row.points] if per_question else []
        penalty = None if row.total is None else row.penalty
        table.append([*who, *points, row.raw, penalty, row.total, scores.max_score])
    return table


def canvas(scores: Scores, per_question: bool) -> list[list[Cell]]:
    """Canvas's gradebook import: its five columns of identity, then assignments, whose points are in the second row."""
    titles, maxima = _columns(scores, per_question)
    table: list[list[Cell]] = [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", *titles],
        ["    Points Possible", None, None, None, None, *maxima],
    ]
    for row in scores.rows:
        name = ", ".join(part for part in (row.last_name, row.first_name) if part) or row.student
        table.append([name, None, None, row.student, None, *_points(scores, row, per_question)])
    return table


def moodle(scores: Scores, per_question: bool) -> list[list[Cell]]:
    """Moodle's grade import: users are found by Username or Email address, the rest are grade items."""
    titles, _ = _columns(scores, per_question)
    table: list[list[Cell]] = [["First name", "Last name", "Username", "Email address", *titles]]
    for row in scores.rows:
        who: list[Cell] = [row.first_name, row.last_name, row.student, row.email]
        table.append([*who, *_points(scores, row, per_question)])
    return table


def _columns(scores: Scores, per_question: bool) -> tuple[list[str], list[float]]:
    if not per_question:
        return [scores.assignment], [scores.max_score]
    titles = [*(question.title for question in scores.questions), PENALTY]
    return [f"{scores.assignment}: {title}" for title in titles], [*(one.max_score for one in scores.questions), 0.0]


def _points(scores: Scores, row: StudentScores, per_question: bool) -> list[Cell]:
    """The points; what is not graded or marked yet gives empty cells, which leave a grade unchanged."""
    if not per_question:
        return [row.total]
    if row.points is None:
        return [None] * (len(scores.questions) + 1)
    late = None if row.raw is None or row.total is None else row.total - row.raw
    return [*row.points, late]


# -- Gradescope --------------------------------------------------------------------------------------------------------
def results(scores: Scores, row: StudentScores, per_question: bool) -> dict[str, object]:
    """What Gradescope expects in `/autograder/results/results.json`; its `score` overrides the sum of the tests."""
    late = f"{PENALTY}: {row.penalty:g}" if row.penalty else ""
    found: dict[str, object] = {"score": _rounded(row.total), "output": f"{scores.assignment} {late}".strip()}
    if per_question and row.points is not None:
        pairs = zip(scores.questions, row.points, strict=True)
        found["tests"] = [
            {"name": one.title, "score": got, "max_score": one.max_score} for one, got in pairs if got is not None
        ]
    return found


def _results(scores: Scores, folder: Path, per_question: bool) -> None:
    rows = [row for row in scores.rows if row.total is not None]
    for row in rows:
        if Path(row.student).name != row.student:
            raise ExportError(f"student {row.student!r} cannot name a file: rename them in the gradebook")
    if folder.exists():
        raise FileExistsError
    made = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    try:
        made.chmod(0o755)
        for row in rows:
            text = json.dumps(results(scores, row, per_question), indent=1, ensure_ascii=False)
            (made / f"{row.student}.json").write_text(text + "\n", encoding="utf-8")
        made.rename(folder)
    except BaseException:
        shutil.rmtree(made)
        raise


__all__ = ["ExportError", "read", "write"]
