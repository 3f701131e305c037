"""Due dates of course.toml in nbgrader's gradebook."""

from __future__ import annotations

import json
from datetime import UTC
from pathlib import Path
from typing import TYPE_CHECKING

from course.files import write_if_new
from course.settings import LessonError, Unit, read

if TYPE_CHECKING:
    from nbgrader.api import Gradebook


DUE_RECORD = ".due.json"  # the due dates that the last build wrote into the gradebook


def set_due_dates(course_dir: str | Path, units: list[str] | None = None, track: str | None = None) -> list[str]:
    """Write the due dates of course.toml into the gradebook that nbgrader_config.py names; a line for each change.

    A date that an earlier call wrote is cleared when its line is gone. One that was entered elsewhere, such as in the
    formgrader, stays, and a line says so. track: only its units, instead of course.toml's.
    """
    course_dir = Path(course_dir)
    chosen = [unit for unit in read(course_dir, track) if not units or unit.name in units]
    if not any(unit.due for unit in chosen) and not (course_dir / DUE_RECORD).exists():
        return []  # course.toml has never set a date
    record = _read_due_record(course_dir / DUE_RECORD)
    from nbgrader.api import Gradebook

    from autograder.cluster.course import settings_of, working_in

    course, messages, after = settings_of(course_dir.resolve()).coursedir, [], dict(record)
    with working_in(course_dir), Gradebook(course.db_url, course.course_id) as gradebook:
        for unit in chosen:
            messages += _set_due_date(gradebook, unit, after)
    if after != record:
        write_if_new(course_dir / DUE_RECORD, json.dumps(after, indent=1, sort_keys=True) + "\n")
    return messages


def _read_due_record(path: Path) -> dict[str, str]:
    """Unit -> the due date that the last build wrote into the gradebook, ISO 8601 in UTC. Raises LessonError."""
    if not path.exists():
        return {}
    try:
        return dict(json.loads(path.read_text(encoding="utf-8")))
    except (TypeError, ValueError) as error:
        raise LessonError(f"{path} cannot be read ({error}): delete it, and clear old due dates by hand") from None


def _set_due_date(gradebook: Gradebook, unit: Unit, record: dict[str, str]) -> list[str]:
    """Bring one unit's due date in the gradebook and in `record` in line with course.toml; what there is to say."""
    from nbgrader.api import MissingEntry

    due = unit.due.astimezone(UTC).replace(tzinfo=None) if unit.due else None  # as nbgrader keeps them
    try:
        before = gradebook.find_assignment(unit.name).duedate
    except MissingEntry:
        before = None
    written = record.pop(unit.name, None)
    if unit.due and due:
        record[unit.name] = due.isoformat()
        if before == due:
            return []
        gradebook.update_or_create_assignment(unit.name, duedate=due)
        return [f"due       {unit.name}: {unit.due:%Y-%m-%d %H:%M %z}"]
    if before is None:
        return []
    if written == before.isoformat():
        gradebook.update_or_create_assignment(unit.name, duedate=None)
        return [f"due       {unit.name}: none"]
    return [
        f"due       {unit.name}: the gradebook keeps {before:%Y-%m-%d %H:%M} UTC, which course.toml did not set; "
        f"`nbgrader db assignment add {unit.name}` in the course directory clears it"
    ]
