"""Points for making predictions, where a course gives any: `predictions = 1` of a unit in course.toml.

The released notebook then ends in a graded cell that names the unit's predictions. They are stored in
`.tfkit/predictions.json` beside the notebook, which the student can edit. So making a prediction earns points,
whether it is right or not.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from nbformat import NotebookNode

from autograder.api import CheckResult, Verdict
from autograder.nbgrader.lab_files import fault_of, names_in_call, read_lab_json
from tfkit_course.small_file import MALFORMED

GRADE_ID = "predictions"
FILE = Path(".tfkit") / "predictions.json"
MAX_BYTES = 1 << 20


def is_predictions_cell(cell: NotebookNode) -> bool:
    """Whether a graded cell of a rebuilt notebook counts predictions: its id comes from the gradebook."""
    return cell.metadata.nbgrader["grade_id"] == GRADE_ID


def prediction_names(source: str) -> list[str]:
    """The predictions that the source of such a cell names, in its order."""
    return names_in_call(source, "predictions_made")


def grade(cell: NotebookNode, answered: Collection[str]) -> Verdict:
    """The verdict if the predictions named in `answered` were made: each earns its share of the cell's points."""
    names, points = prediction_names(cell.source), float(cell.metadata.nbgrader["points"])
    missing = [name for name in names if name not in answered]
    made = len(names) - len(missing)
    summary = f"{made} of {len(names)} predictions were made" + (f"; not {', '.join(missing)}" if missing else "")
    check = CheckResult(name="made", status="failed" if missing else "passed", message=f"{summary}.")
    score = points * made / len(names) if names else points
    return Verdict(exercise=GRADE_ID, status=check.status, score=score, max_score=points, checks=(check,))


def answered_predictions(folder: str | Path) -> set[str]:
    """The names of the predictions that were made in a submission's folder; skipped ones have no answers.

    Raises nothing, whatever the student put there: what cannot be read, a link, a device or a huge file has no names.
    """
    try:
        return _answered(Path(folder))
    except MALFORMED:
        return set()


def predictions_fault(folder: str | Path) -> str:
    """What the instructor is told of a file with predictions that cannot be read; "" if it can, or there is none."""
    return fault_of(lambda: _answered(Path(folder)), FILE, "predictions")


def _answered(folder: Path) -> set[str]:
    """Raises one of MALFORMED."""
    entries = read_lab_json(folder / FILE, MAX_BYTES)["predictions"].items()
    return {name for name, entry in entries if isinstance(entry, dict) and isinstance(entry.get("answers"), list)}
