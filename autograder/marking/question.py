"""Finds the question of a notebook that a student names; imports little, so that errors are reported at once."""

from __future__ import annotations

from pathlib import Path

from tfkit_course.small_file import read_notebook_cells

MAX_REASON = 2_000  # characters


class BadRegradeRequest(Exception):
    """The regrade request is invalid; the message says why."""


def find_question_id(notebook: Path, question: str, reason: str) -> str:
    """The id of the question with this name. Raises BadRegradeRequest if the notebook has none, with a list of those
    that it has, and if the reason is empty or too long."""
    if not reason.strip() or len(reason) > MAX_REASON:
        raise BadRegradeRequest(f"give the reason for the regrade request in 1 to {MAX_REASON} characters")
    try:
        cells = read_notebook_cells(notebook)
        marks = [cell["metadata"].get("nbgrader") or {} for cell in cells]
        names = [str(one["grade_id"]) for one in marks if one.get("grade") or one.get("task")]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadRegradeRequest(f"{notebook} cannot be read as a notebook: {error}") from error
    plain = question.replace(".", "-").replace("_", "-").replace(" ", "-")
    wanted = (question, plain, f"check-{plain}", f"task-{plain}")
    found = next((name for name in wanted if name in names), None)
    if found is None:
        raise BadRegradeRequest(f"{notebook.name} has no question {question!r}; it has {', '.join(names) or 'none'}")
    return found
