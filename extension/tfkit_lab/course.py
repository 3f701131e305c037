"""What course notebooks lie under the server's root, and the last verdict on each exercise. Imports no torch."""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

PROGRESS = Path(".tfkit") / "progress.json"
MAX_DEPTH = 4
MAX_NOTEBOOKS = 300
MAX_BYTES = 32 << 20
STATES = ("passed", "failed", "not_graded")
# of an instructor's folder only `source` is listed: the rest are copies of it
_COPIES = {"release", "submitted", "autograded", "feedback"}
_HEADING = re.compile(r"^#{1,6}\s+(.+?)\s*#*\s*$", re.MULTILINE)


def units(root: Path) -> list[dict[str, Any]]:
    """Notebooks with exercises, in path order, each exercise with its state."""
    known = read_progress(root)
    found = (_unit(root, path, known) for path in _notebooks(root))
    return [unit for unit in found if unit is not None]


def _notebooks(root: Path) -> Iterator[Path]:
    count = 0
    for folder, folders, files in os.walk(root):
        here = Path(folder)
        depth = len(here.relative_to(root).parts)
        copies = _COPIES if "source" in folders else set()
        keep = (f for f in folders if f[0] not in "._" and f != "node_modules" and f not in copies)
        folders[:] = sorted(keep) if depth < MAX_DEPTH else []
        for name in sorted(files):
            if name.endswith(".ipynb") and count < MAX_NOTEBOOKS:
                count += 1
                yield here / name


def _unit(root: Path, path: Path, known: dict[str, Any]) -> dict[str, Any] | None:
    """None for what is no course notebook: a damaged file in the folder must not hide the others."""
    try:
        if path.stat().st_size > MAX_BYTES:
            return None
        notebook = json.loads(path.read_text(encoding="utf-8"))
        unit = notebook["metadata"].get("tfkit", {})
        exercises, title = _exercises(notebook["cells"])
        due, asked = _due(unit), _asked(unit, exercises)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    if not asked:
        return None
    listed = [
        {"id": key, "title": exercises.get(key, key), "lost": key not in exercises, **_state(known.get(key))}
        for key in asked
    ]
    return {"path": path.relative_to(root).as_posix(), "title": title or path.stem, "due": due, "exercises": listed}


def _due(mark: dict[str, Any]) -> str | None:
    """When it is due, as the course's build wrote it; None for what is no moment of time."""
    try:
        found = datetime.fromisoformat(mark["due"])
    except (KeyError, TypeError, ValueError):
        return None
    return found.isoformat() if found.tzinfo else None


def _asked(unit: dict[str, Any], found: dict[str, str]) -> list[str]:
    """The exercises that the unit asks for: those that the build named, and any others that its cells have."""
    named = unit.get("exercises")
    names = [name for name in named if isinstance(name, str)] if isinstance(named, list) else []
    return list(dict.fromkeys([*names, *found]))


def _exercises(cells: list[dict[str, Any]]) -> tuple[dict[str, str], str]:
    """Exercise ids with the heading each stands under, and the notebook's first heading."""
    first = latest = ""
    found: dict[str, str] = {}
    for cell in cells:
        if cell["cell_type"] == "markdown":
            headings = _HEADING.findall("".join(cell["source"]))
            latest = headings[-1] if headings else latest
            first = first or (headings[0] if headings else "")
        mark = cell["metadata"].get("tfkit", {})
        if mark.get("role") == "exercise" and isinstance(mark.get("exercise"), str):
            found.setdefault(mark["exercise"], latest if latest != first and latest else mark["exercise"])
    return found, first


def _state(entry: Any) -> dict[str, Any]:
    if not isinstance(entry, dict) or entry.get("status") not in STATES:
        return {"state": "not_started", "score": 0.0, "max_score": 0.0}
    return {"state": entry["status"], "score": entry.get("score", 0.0), "max_score": entry.get("max_score", 0.0)}


def read_progress(root: Path) -> dict[str, Any]:
    """Last verdict by exercise; empty when there is none yet or the file is damaged."""
    try:
        found = json.loads((root / PROGRESS).read_text(encoding="utf-8"))["exercises"]
    except (OSError, ValueError, KeyError, TypeError):
        return {}
    return found if isinstance(found, dict) else {}


def record(root: Path, verdict: dict[str, Any]) -> None:
    """Keep a verdict's outcome. The file is replaced whole, so that a reader never sees half of it."""
    exercises = read_progress(root)
    kept = {key: verdict.get(key) for key in ("status", "score", "max_score", "misconception")}
    exercises[verdict["exercise"]] = {**kept, "at": datetime.now(UTC).isoformat(timespec="seconds")}
    target = root / PROGRESS
    target.parent.mkdir(exist_ok=True)
    with tempfile.NamedTemporaryFile("w", dir=target.parent, suffix=".tmp", delete=False, encoding="utf-8") as file:
        json.dump({"exercises": exercises}, file, indent=1)
    os.replace(file.name, target)
