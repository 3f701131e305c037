"""When a submission was handed in: from its `timestamp.txt`, which nbgrader writes as the student who submits."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

from nbgrader.coursedir import CourseDirectory
from nbgrader.utils import parse_utc

from autograder.feedback.text import one_line
from tfkit_course.small_file import read_small_text, reason

FILE = "timestamp.txt"
MAX_BYTES = 1000
MAX_SHOWN = 40  # characters of a text that is not a time


class UnreadableTimestamp(ValueError):
    """The file holds no time; the message says what it is instead."""


def read_timestamp(folder: str | os.PathLike[str]) -> datetime | None:
    """The time in UTC, without a time zone as nbgrader stores it; None if the folder has no such file.

    Raises UnreadableTimestamp, whatever the student put there.
    """
    try:
        text = read_small_text(Path(folder) / FILE, MAX_BYTES).strip()
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise UnreadableTimestamp(reason(error)) from error
    if not text:
        raise UnreadableTimestamp("it is empty")
    try:
        found: datetime = parse_utc(text)
    except Exception as error:  # dateutil has no common base class: ValueError, OverflowError, TypeError …
        shown = text if len(text) <= MAX_SHOWN else text[:MAX_SHOWN] + "…"
        raise UnreadableTimestamp(f'it says "{one_line(shown)}"') from error
    return found


def timestamp_fault(folder: str | os.PathLike[str]) -> str:
    """What the instructor is told where the time of a submission is unknown; "" where it is not."""
    try:
        read_timestamp(folder)
    except UnreadableTimestamp as error:
        return f"{FILE} holds no time ({error}): graded as on time; whether it is late is for you to decide"
    return ""


def tolerate_timestamps(coursedir: CourseDirectory) -> None:
    """Make this object return None for an unreadable time stamp, where nbgrader's own method ends the command.

    nbgrader means to call `fail`, which a course directory does not have.
    """

    def get_existing_timestamp(dest_path: str) -> datetime | None:
        """See nbgrader's CourseDirectory."""
        try:
            return read_timestamp(dest_path)
        except UnreadableTimestamp:
            return None

    coursedir.get_existing_timestamp = get_existing_timestamp


def collected_at(folder: str | os.PathLike[str]) -> datetime:
    """The time of a collected submission, to compare with that of another: of its last change where it has no other.

    Collecting keeps the time of change that the folder had in the exchange.
    """
    try:
        found = read_timestamp(folder)
    except UnreadableTimestamp:
        found = None
    return found or changed_at(folder)


def changed_at(folder: str | os.PathLike[str]) -> datetime:
    """The time of a folder's last change, in UTC without a time zone."""
    return datetime.fromtimestamp(os.lstat(folder).st_mtime, UTC).replace(tzinfo=None)
