"""Points for answers to questions about one's own code, where a course gives any: `questions = 1` of a unit.

The released notebook then asks below each check, and ends in a graded cell that names the exercises. Each earns its
share of the points by how many answers say what the submitted code does (`autograder.questions.graded`). One that did
not pass has no questions and earns none; one that passed and about whose code nothing can be asked is for a person.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nbformat import NotebookNode

from autograder.api import CheckResult, Status, Verdict
from autograder.feedback.translate import say
from autograder.nbgrader.lab_files import fault_of, names_in_call, read_lab_json
from autograder.questions import record
from autograder.questions.record import JudgedAnswers
from autograder.questions.words import TITLE
from tfkit_course.small_file import MALFORMED

GRADE_ID = "questions"
NOT_PASSED = "The exercise did not pass, so that there is nothing to ask about it."
NOBODY_KNOWS = "The exercise was not graded, so that its questions do not count."
NOTHING_COUNTS = "no question about the submitted code could be made again"
UNDECIDED = "the grader could not make the questions about {names} again"


def is_questions_cell(cell: NotebookNode) -> bool:
    """Whether a graded cell of a rebuilt notebook counts answers to questions: its id comes from the gradebook."""
    return bool(cell.metadata.nbgrader["grade_id"] == GRADE_ID)


def exercise_names(source: str) -> list[str]:
    """The exercises that the source of such a cell names, in its order."""
    return names_in_call(source, "questions_answered")


def without_answers(verdict: Verdict | None) -> JudgedAnswers | None:
    """What becomes of an exercise that has no questions because of its verdict; None for one that passed."""
    if verdict is None or verdict.status == "not_graded":
        return JudgedAnswers(0, 0, say(NOBODY_KNOWS))
    return None if verdict.status == "passed" else JudgedAnswers(0, 1, say(NOT_PASSED))


def grade(cell: NotebookNode, found: Mapping[str, JudgedAnswers]) -> Verdict:
    """The verdict of the cell, from what became of each exercise's answers; not graded if none of them counts, or if
    the grader could not make the questions about one.
    """
    points = float(cell.metadata.nbgrader["points"])
    counted = {name: one.right / one.asked for name, one in found.items() if one.asked}
    share = points / max(len(counted), 1)
    checks = tuple(
        CheckResult(
            name=name,
            status="not_run" if name not in counted else "passed" if one.right == one.asked else "failed",
            message=one.message,
            points=share * counted.get(name, 0.0),
            of=share if name in counted else 0.0,
        )
        for name, one in found.items()
    )
    open_ones = ", ".join(f"`{name}`" for name, one in found.items() if one.undecided)
    if not counted or open_ones:  # code that cannot be asked about must not earn what others answer for
        reason = say(UNDECIDED, names=open_ones) if open_ones else say(NOTHING_COUNTS)
        return Verdict(exercise=GRADE_ID, status="not_graded", score=0.0, max_score=points, checks=checks,
                       title=say(TITLE), reason=reason)  # fmt: skip
    status: Status = "passed" if all(one == 1 for one in counted.values()) else "failed"
    return Verdict(exercise=GRADE_ID, status=status, score=sum(one.points for one in checks), max_score=points,
                   title=say(TITLE), checks=checks)  # fmt: skip


def recorded_answers(folder: str | Path) -> dict[str, list[record.Entry]]:
    """What a student answered, by exercise, from a submission's folder.

    Raises nothing, whatever the student put there: what cannot be read, a link, a device or a huge file has none.
    """
    try:
        return _recorded(Path(folder))
    except MALFORMED:
        return {}


def questions_fault(folder: str | Path) -> str:
    """What the instructor is told of a record that cannot be read; "" if it can, or there is none."""
    return fault_of(lambda: _recorded(Path(folder)), record.FILE, "answers")


def _recorded(folder: Path) -> dict[str, list[record.Entry]]:
    """Raises one of MALFORMED."""
    return record.parse(read_lab_json(folder / record.FILE, record.MAX_BYTES))


def select_exercises(found: Mapping[str, Any], names: set[str]) -> dict[str, Any]:
    """The record of these exercises alone, sorted by name."""
    return {name: found[name] for name in sorted(names & found.keys())}
