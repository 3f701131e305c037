"""What each grade of a mock class must be, and where one is another: whatever graded it is compared with this."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.api import SEPARATOR, Exercise, misconceptions_of
from course import exercises
from course.mock_class import MockStudent

MIN_CHANGE = 0.01  # points; smaller differences are rounding errors
SHARE_ROUNDING = 0.005  # the shares that collected answers say of themselves have two decimals


class WrongGrade(RuntimeError):
    """A grade is not what the truth says; the message has a line for each."""


@dataclass(frozen=True)
class Outcome:
    """One student's result for one exercise, from the gradebook and the graded notebook."""

    score: float
    max_score: float
    manual: bool
    misconception: str | None
    reason: str

    @classmethod
    def of(cls, verdict: Mapping[str, Any]) -> Outcome:
        """The outcome that a verdict is, as `Verdict.as_json` writes it."""
        score, most, waits = verdict["score"], verdict["max_score"], verdict["status"] == "not_graded"
        return cls(score, most, waits, SEPARATOR.join(misconceptions_of(verdict)) or None, verdict.get("reason") or "")


Outcomes = dict[tuple[str, str], Outcome]  # (name of a student's folder, exercise) → outcome


def exercises_of(unit: str) -> list[Exercise]:
    """The unit's exercises, in their order."""
    return [exercise for exercise in exercises() if exercise.unit == unit]


def verdicts_of(graded: Path) -> dict[str, dict[str, Any]]:
    """Exercise → verdict, from the metadata of a graded notebook."""
    cells = json.loads(graded.read_text(encoding="utf-8"))["cells"]
    found = [cell["metadata"].get("tfkit", {}).get("verdict") for cell in cells]
    return {verdict["exercise"]: verdict for verdict in found if verdict}


def outcomes(root: Path, course_id: str, unit: str, names: Iterable[str]) -> Outcomes:
    """The scores in nbgrader's gradebook, with what the graded notebooks name.

    Raises WrongGrade where gradebook and notebook differ.
    """
    from nbgrader.api import Gradebook

    found = {}
    with Gradebook(f"sqlite:///{root / 'gradebook.db'}", course_id) as gradebook:
        for name in names:
            verdicts = verdicts_of(root / "autograded" / name / unit / f"{unit}.ipynb")
            for exercise in exercises_of(unit):
                grade = gradebook.find_grade(f"check-{exercise.id.replace('.', '-')}", unit, unit, name)
                verdict = verdicts.get(exercise.id, {})
                if abs(verdict.get("score", 0.0) - (grade.auto_score or 0.0)) > MIN_CHANGE:
                    both = f"{grade.auto_score} in the gradebook, {verdict.get('score')} in the notebook"
                    raise WrongGrade(f"{name}, {exercise.id}: {both}")
                waits, reason = bool(grade.needs_manual_grade), verdict.get("reason", "")
                named = SEPARATOR.join(misconceptions_of(verdict)) or None
                given = grade.score, grade.max_score, waits, named, reason
                found[name, exercise.id] = Outcome(*given)
    return found


def differences(students: Mapping[str, MockStudent], unit: str, found: Outcomes) -> list[str]:
    """A line for each outcome that is not what it must be; `students` by the name of their folder."""
    pairs = [(name, student, exercise) for name, student in students.items() for exercise in exercises_of(unit)]
    return [f"{name} {line}" if name != student.name else line
            for name, student, exercise in pairs
            for line in difference(student, exercise, found[name, exercise.id])]  # fmt: skip


def difference(student: MockStudent, exercise: Exercise, got: Outcome) -> list[str]:
    """A line that says in what the outcome is not the one that the student must get; none if it is."""
    want = student.expected_outcome(exercise)
    where = f"{student.name} ({student.description}), {exercise.id}:"
    if got.manual:
        return [f"{where} could not be graded: {got.reason}"]
    if want.passed:
        return [] if got.score == got.max_score else [f"{where} {got.score:g} of {got.max_score:g}, but it is right"]
    if got.score >= got.max_score:
        return [f"{where} full marks, but it is wrong"]
    if exercise.id in student.changes and got.score > 0:
        return [f"{where} earned {got.score:g} by a change that should earn nothing"]
    if abs(got.score - want.share * got.max_score) > MIN_CHANGE + SHARE_ROUNDING * got.max_score:
        return [f"{where} {got.score:g} of {got.max_score:g}, but it must be {want.share * got.max_score:.2f}"]
    if want.misconception and got.misconception != want.misconception:
        return [f"{where} named {got.misconception or 'nothing'}, but it is {want.misconception}"]
    return []


def summary(number: int) -> str:
    """What a report says where every grade is what it must be."""
    return f"{number} grades compared with the truth, all agree"
