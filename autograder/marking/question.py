"""Which question of a notebook a student means; loads nothing, so that a mistake is told at once."""

from __future__ import annotations

import json
from pathlib import Path

MAX_REASON = 2_000  # characters


class BadRegradeRequest(Exception):
    """This cannot be asked; the message says why."""


def find_question_id(notebook: Path, question: str, reason: str) -> str:
    """The id of the question that is called so. Raises BadRegradeRequest, which names those there are, and for a reason
    that is none."""
    if not reason.strip() or len(reason) > MAX_REASON:
        raise BadRegradeRequest(f"say in 1 to {MAX_REASON} characters why the question should be looked at again")
    try:
        cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
        marks = [cell["metadata"].get("nbgrader") or {} for cell in cells]
        names = [str(one["grade_id"]) for one in marks if one.get("grade") or one.get("task")]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadRegradeRequest(f"{notebook} is no notebook that can be read: {error}") from error
    plain = question.replace(".", "-").replace("_", "-").replace(" ", "-")
    wanted = (question, plain, f"check-{plain}", f"task-{plain}")
    found = next((name for name in wanted if name in names), None)
    if found is None:
        raise BadRegradeRequest(f"{notebook.name} has no question {question!r}; it has {', '.join(names) or 'none'}")
    return found
