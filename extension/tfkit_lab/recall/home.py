"""What the home page says of the questions on earlier units: how many are due, or when the next one comes back."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tfkit_lab.model_table import notebooks_folder
from tfkit_lab.recall import record
from tfkit_lab.recall.cards import cards_of
from tfkit_lab.recall.schedule import due_at


def for_home_page(root: Path, units: list[dict[str, Any]], now: datetime | None = None) -> dict[str, Any] | None:
    """`{"due": number, "next": time or None}`; None before anything was answered, and where no unit asks.

    units: as `course.units` gives them. The record is beside the folders of the units, as the notebooks write it.
    """
    asking = [root / unit["path"] for unit in units if unit["recall_cell"] is not None]
    known = {card.id for card in cards_of(unit["name"] for unit in units)} if asking else set()
    for folder in dict.fromkeys(notebooks_folder(path.parent) for path in asking):
        times = [due_at(state) for name, state in record.read(folder).states.items() if name in known]
        if times:
            due = sum(time <= (now or datetime.now(UTC)) for time in times)
            return {"due": due, "next": None if due else min(times).isoformat()}
    return None
