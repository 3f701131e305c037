"""Statistics of a class's results in an assignment, from the verdicts in its graded notebooks."""

from __future__ import annotations

import glob
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from autograder.api import misconceptions_of
from autograder.cluster.course import BadCourse, settings_of
from autograder.report.misconceptions import misconceptions
from tfkit_course.small_file import read_notebook_cells

PASSED_BY = 2 / 3  # an exercise that fewer students pass should be taught again
SHARED_BY = 0.2  # and so should one where more students share a misconception

Verdicts = dict[str, dict[str, Any]]  # exercise → a student's verdict


@dataclass(frozen=True)
class MisconceptionCount:
    """A misconception, and how many students' code behaves like it."""

    name: str
    hint: str
    students: int


@dataclass(frozen=True)
class ExerciseSummary:
    """Numbers of students by outcome; `discrimination` is None if it is not defined."""

    name: str
    full: int
    part: int
    none: int
    not_graded: int
    discrimination: float | None
    misconceptions: list[MisconceptionCount]

    @property
    def graded(self) -> int:
        """Students who have a score."""
        return self.full + self.part + self.none

    @property
    def reteach(self) -> bool:
        """Whether few passed, or many share one misconception."""
        most = self.misconceptions[0].students if self.misconceptions else 0
        return bool(self.graded) and (self.full < PASSED_BY * self.graded or most > SHARED_BY * self.graded)


def read(root: Path, assignment: str) -> list[Verdicts]:
    """The verdicts of each student whose graded notebooks the course in `root` has.

    Raises BadCourse if nothing is graded or a notebook is damaged.
    """
    course = settings_of(root.resolve()).coursedir
    folders = sorted(glob.glob(course.format_path(course.autograded_directory, "*", assignment)))
    students = [_verdicts(Path(folder)) for folder in folders]
    if not any(students):
        raise BadCourse(f"no graded notebook of {assignment!r} in {root} has verdicts of the autograder: "
                        f"run `autograder grade COURSE_DIR {assignment}` first")  # fmt: skip
    return students


def _verdicts(folder: Path) -> Verdicts:
    found = {}
    for path in sorted(folder.glob("*.ipynb")):
        try:
            cells = read_notebook_cells(path)
        except (OSError, ValueError) as error:
            raise BadCourse(f"{path} cannot be read ({error}): delete it and grade again") from error
        verdicts = [(cell.get("metadata", {}).get("tfkit") or {}).get("verdict") for cell in cells]
        found.update({verdict["exercise"]: verdict for verdict in verdicts if verdict})
    return found


def exercises(students: Sequence[Verdicts]) -> list[ExerciseSummary]:
    """A count for each exercise, in the order of the notebooks."""
    return [_count(name, students) for name in dict.fromkeys(name for one in students for name in one)]


def _count(name: str, students: Sequence[Verdicts]) -> ExerciseSummary:
    verdicts = [one[name] for one in students if name in one]
    shares = [share(verdict) for verdict in verdicts if verdict["status"] != "not_graded"]
    full, none = sum(one >= 1 for one in shares), sum(one <= 0 for one in shares)
    why = [(idea, number) for (of, idea), number in misconceptions(students).most_common() if of == name]
    ideas = [MisconceptionCount(idea, _hint(idea, verdicts), number) for idea, number in why]
    missing = len(verdicts) - len(shares)
    return ExerciseSummary(name, full, len(shares) - full - none, none, missing, _discrimination(name, students), ideas)


def _hint(idea: str, verdicts: Sequence[dict[str, Any]]) -> str:
    """The sentence for one mistake, from an answer with only this mistake, or else from one with several."""
    alone = [verdict for verdict in verdicts if misconceptions_of(verdict) == [idea]]
    among = [verdict for verdict in verdicts if idea in misconceptions_of(verdict)]
    return next((verdict["hint"] for verdict in [*alone, *among] if verdict.get("hint")), "")


def share(verdict: dict[str, Any]) -> float:
    """The score as a share of the maximum."""
    return float(verdict["score"]) / float(verdict["max_score"]) if verdict["max_score"] else 0.0


def _discrimination(name: str, students: Sequence[Verdicts]) -> float | None:
    """Point-biserial correlation of full marks here with the mean share of the *other* exercises."""
    passed, rest = [], []
    for one in students:
        graded = {key: share(verdict) for key, verdict in one.items() if verdict["status"] != "not_graded"}
        if name in graded and len(graded) > 1:
            passed.append(graded[name] >= 1)
            rest.append((sum(graded.values()) - graded[name]) / (len(graded) - 1))
    return point_biserial(passed, rest)


def point_biserial(passed: Sequence[bool], rest: Sequence[float]) -> float | None:
    """Pearson's correlation of a yes or no with a number (Lord & Novick 1968), None if either is constant."""
    if len(set(passed)) < 2 or np.std(rest) < 1e-12:
        return None
    return float(np.corrcoef(np.asarray(passed, float), rest)[0, 1])
