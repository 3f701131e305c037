"""The course notebooks under the server's root, and the last verdict on each exercise. Imports no torch."""

from __future__ import annotations

import re
import secrets
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeGuard

from autograder.feedback.files import replace_json
from autograder.feedback.words import is_unwritten
from tfkit_course.small_file import NOTEBOOK_BYTES, read_small_json
from tfkit_lab import live, sealed
from tfkit_lab.folders import notebooks
from tfkit_lab.steps import steps

try:
    import fcntl
except ImportError:  # Windows, where a folder is used by one server
    fcntl = None  # type: ignore[assignment]

PROGRESS = Path(".tfkit") / "progress.json"
PROGRESS_BYTES = 32 << 20
LOCK = PROGRESS.with_suffix(".lock")
STATES = ("passed", "failed", "not_graded")
_HEADING = re.compile(r"^#{1,6}\s+(.+?)\s*#*\s*$", re.MULTILINE)
_TERM = re.compile(r"^- \*\*(.+?)\*\*:\s*(.+)$", re.MULTILINE)
_INTO_MODEL = re.compile(r"^\s*my_model\.add_unit\(", re.MULTILINE)
_MARKUP = re.compile(r"\*+|`|(?<!\w)_|_(?!\w)")
MAX_ABOUT = 240
_recording = threading.Lock()  # a server has one root


def units(root: Path) -> list[dict[str, Any]]:
    """The course's notebooks in path order: each exercise with its state, and the project of a unit that is one."""
    known = read_progress(root)
    found = (_unit(root, path, known) for path in notebooks(root))
    return [unit for unit in found if unit is not None]


def has_course(root: Path) -> bool:
    """Whether there is a notebook of a course below the root."""
    return any(_unit(root, path, {}) is not None for path in notebooks(root))


def _unit(root: Path, path: Path, known: dict[str, Any]) -> dict[str, Any] | None:
    """The unit, or None for a file that is not a course notebook; a damaged file must not hide the others."""
    try:
        notebook = read_small_json(path.resolve(), NOTEBOOK_BYTES)
        unit = notebook["metadata"].get("tfkit", {})
        exercises, title = _exercises(notebook["cells"])
        exercises, titles = _distinct_titles(exercises), _texts(unit.get("titles"))
        due, assigned = _due(unit), _assigned(unit, exercises)
        worth, prose = _points(notebook["cells"]), _prose(notebook["cells"])
        project, into_model = _project(notebook["cells"]), _model_cell(notebook["cells"])
        entries = sealed.read(path.parent)
        predicted = _predicted(unit, entries)
        asked = steps(notebook["cells"], assigned, entries)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    if not assigned and project is None:
        return None
    listed = [
        {
            "id": key,
            "title": titles.get(key) or exercises.get(key, key),
            "lost": key not in exercises,
            "points": worth.get(key),
        }
        | _state(known.get(key))
        for key in assigned
    ]
    return {
        "path": path.relative_to(root).as_posix(),
        "name": unit["unit"] if isinstance(unit.get("unit"), str) else path.stem,
        "title": title or path.stem,
        "about": _about(prose),
        "minutes": _positive(unit.get("minutes")),
        "tracks": _tracks(unit.get("tracks")),
        "due": due,
        "exercises": listed,
        "project": project,
        "model_cell": into_model,
        "recall_cell": _recall_cell(notebook["cells"]),
        "predictions": predicted,
        "steps": asked,
        "terms": [{"word": word, "means": means} for word, means in _TERM.findall(prose.get("glossary", ""))],
    }


def _texts(named: Any) -> dict[str, str]:
    """Name -> title, as the course's build writes those of exercises into a notebook."""
    found = named.items() if isinstance(named, dict) else ()
    return {key: title for key, title in found if isinstance(title, str)}


def _tracks(named: Any) -> list[list[str | int]]:
    """[name, title, number of its units] of each track, in course.toml's order, which the keys of an object in a
    notebook would not keep."""
    found = named if isinstance(named, list) else []
    return [one for one in found if isinstance(one, list) and [type(part) for part in one] == [str, str, int]]


def _distinct_titles(titles: dict[str, str]) -> dict[str, str]:
    """Headings by exercise; exercises under the same heading also get the last part of their ids."""
    twice = {title for title, n in Counter(titles.values()).items() if n > 1}
    last = {key: key.rpartition(".")[2].replace("_", " ") for key in titles}
    return {key: f"{title} ({last[key]})" if title in twice else title for key, title in titles.items()}


def _predicted(unit: dict[str, Any], known: dict[str, dict[str, Any]]) -> dict[str, int]:
    """The numbers of predictions that the unit asks for and that are sealed; skipped ones don't count."""
    named = unit.get("predictions")
    names = {name for name in named if isinstance(name, str)} if isinstance(named, list) else set()
    made = sum(known.get(name, {}).get("answers") is not None for name in names)
    return {"asked": len(names), "made": made}


def _prose(cells: list[dict[str, Any]]) -> dict[str, str]:
    """The text cells of a notebook by their ids, in order; a cell without an id by its index."""
    texts = ((str(cell.get("id", index)), cell) for index, cell in enumerate(cells))
    return {key: "".join(cell["source"]) for key, cell in texts if cell["cell_type"] == "markdown"}


def _about(prose: dict[str, str]) -> str:
    """The first paragraph below the title, without markup and without the bold words that open it."""
    paragraphs = next(iter(prose.values()), "").split("\n\n")
    text = next((one for one in paragraphs if one.strip() and not one.startswith("#")), "")
    text = " ".join(_MARKUP.sub("", re.sub(r"^\*\*[^*]+\*\*\s*", "", text)).split())
    return text if len(text) <= MAX_ABOUT else text[:MAX_ABOUT].rsplit(" ", 1)[0] + " …"


def _points(cells: list[dict[str, Any]]) -> dict[str, float]:
    """The points of each exercise: nbgrader's points of the cells that check it."""
    worth: dict[str, float] = {}
    for cell in cells:
        mark = cell["metadata"].get("tfkit", {})
        points = _positive(cell["metadata"].get("nbgrader", {}).get("points"))
        if mark.get("role") == "check" and isinstance(mark.get("exercise"), str) and points is not None:
            worth[mark["exercise"]] = worth.get(mark["exercise"], 0) + points
    return worth


def _project(cells: list[dict[str, Any]]) -> dict[str, Any] | None:
    """The cell of a project, such as the capstone's, and its points: it is measured as a whole, not by checks."""
    for index, cell in enumerate(cells):
        if cell["metadata"].get("tfkit", {}).get("role") == "project":
            points = _positive(cell["metadata"].get("nbgrader", {}).get("points"))
            return {"cell": str(cell.get("id", index)), "points": points}
    return None


def _model_cell(cells: list[dict[str, Any]]) -> str | None:
    """The id of the cell that puts the unit's parts into the student's model, or None."""
    for index, cell in enumerate(cells):
        if cell["cell_type"] == "code" and _INTO_MODEL.search("".join(cell["source"])):
            return str(cell.get("id", index))
    return None


def _recall_cell(cells: list[dict[str, Any]]) -> str | None:
    """The id of the cell that asks questions on earlier units, or None."""
    marked = (str(cell.get("id", n)) for n, cell in enumerate(cells)
              if cell["metadata"].get("tfkit", {}).get("role") == "recall")  # fmt: skip
    return next(marked, None)


def _positive(value: Any) -> float | None:
    """A number of points or minutes, or None for anything else."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return value if is_number and 0 < value < float("inf") else None


def _due(mark: dict[str, Any]) -> str | None:
    """The due date as written by the course's build; None if it is not a valid time."""
    try:
        found = datetime.fromisoformat(mark["due"])
    except (KeyError, TypeError, ValueError):
        return None
    return found.isoformat() if found.tzinfo else None


def _assigned(unit: dict[str, Any], found: dict[str, str]) -> list[str]:
    """The exercises of the unit: those listed by the build, and any others in its cells."""
    named = unit.get("exercises")
    names = [name for name in named if isinstance(name, str)] if isinstance(named, list) else []
    return list(dict.fromkeys([*names, *found]))


def _exercises(cells: list[dict[str, Any]]) -> tuple[dict[str, str], str]:
    """Exercise ids with the heading above each, and the notebook's first heading."""
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
    """The best outcome, which counts, and when the last check was; `last` is its outcome, if it was not as good."""
    if not _is_outcome(entry):
        return {"state": "not_started", "score": 0.0, "max_score": 0.0, "at": None, "last": None}
    best = best_of(entry)
    scores = {key: best.get(key, 0.0) for key in ("score", "max_score")}
    last = entry["status"] if _rank(entry) < _rank(best) else None
    at = entry["at"] if isinstance(entry.get("at"), str) else None
    return {"state": best["status"], **scores, "at": at, "last": last}


def best_of(entry: dict[str, Any]) -> dict[str, Any]:
    """The best outcome of an exercise's checks; that of the last one where no better one is stored."""
    best = entry.get("best")
    return best if _is_outcome(best) and _rank(best) > _rank(entry) else entry


def _is_outcome(one: Any) -> TypeGuard[dict[str, Any]]:
    return isinstance(one, dict) and one.get("status") in STATES


def _rank(outcome: dict[str, Any]) -> tuple[int, float]:
    """Passed is better than failed, which is better than a check that could not be run; then the score decides."""
    score, most = outcome.get("score"), outcome.get("max_score")
    share = score / most if isinstance(score, int | float) and isinstance(most, int | float) and most > 0 else 0.0
    return ("not_graded", "failed", "passed").index(outcome["status"]), share


def read_progress(root: Path) -> dict[str, Any]:
    """Last verdict by exercise, and the best one with it; empty when there is none yet or the file is damaged."""
    found = _read(root).get("exercises")
    return found if isinstance(found, dict) else {}


def _read(root: Path) -> dict[str, Any]:
    try:
        found = read_small_json(root / PROGRESS, PROGRESS_BYTES)
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def record(root: Path, verdict: dict[str, Any]) -> None:
    """Store a verdict's outcome, how many checks have failed in a row, and since when; copy them for the class, where
    it has a folder. The file is replaced atomically, so that a reader never sees half of it, and outcomes that arrive
    at the same time are stored one after the other. Raises OSError if the folder cannot be written."""
    target = root / PROGRESS
    target.parent.mkdir(exist_ok=True)
    with _exclusive(root):
        exercises, token = _with_outcome(read_progress(root), verdict), _read(root).get("token")
        token = token if isinstance(token, str) and token.isalnum() else secrets.token_hex(8)
        replace_json(target, {"exercises": exercises, "token": token}, 0o600)
        live.publish(exercises, token)


@contextmanager
def _exclusive(root: Path) -> Iterator[None]:
    """Only one thread, of one server, changes the outcomes below `root` at a time; the kernel releases the file's lock
    however a server ends."""
    with _recording, (root / LOCK).open("a") as file:
        if fcntl is not None:
            with suppress(OSError):  # some network file systems have no locks; threads still take turns there
                fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _with_outcome(exercises: dict[str, Any], verdict: dict[str, Any]) -> dict[str, Any]:
    before = exercises.get(verdict["exercise"])
    kept = {key: verdict.get(key) for key in ("status", "score", "max_score", "misconception", "misconceptions")}
    now = datetime.now(UTC).isoformat(timespec="seconds")
    best = best_of(before) if before is not None and _is_outcome(before) else None
    passed = best is not None and best["status"] == "passed"
    if is_unwritten(verdict) and not passed:
        exercises.pop(verdict["exercise"], None)  # whoever checks the released stub has not started
        return exercises
    entry = {**kept, "at": now, **_failing(before, kept["status"], now)}
    if best is not None and _rank(best) > _rank(entry):  # who tries something out keeps what was earned
        entry["best"] = {key: best.get(key) for key in ("status", "score", "max_score")}
    exercises[verdict["exercise"]] = entry
    return exercises


def _failing(before: Any, status: Any, now: str) -> dict[str, Any]:
    """How many checks have failed in a row, and when the first of them did."""
    count, since = (before.get("failed"), before.get("since")) if isinstance(before, dict) else (0, None)
    if not isinstance(count, int) or count < 1 or not isinstance(since, str):
        count, since = 0, None
    if status == "failed":
        return {"failed": count + 1, "since": since or now}
    if status == "not_graded":  # a check that could not be run says nothing
        return {"failed": count, "since": since}
    return {"failed": 0, "since": None}
