"""Clusters answers of a class that no collected mistake and no kind of mistake explains, by their behaviour."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import nbformat
from rich.console import Console
from rich.progress import track

from autograder.api import Exercise, Limits, Verdict
from autograder.checks.compare import compare
from autograder.checks.probe import Finding, distinguishing_answers
from autograder.cluster.course import BadCourse, boxed_settings, settings_of, students_in
from autograder.diagnosis import misconceptions
from autograder.exercises import registry
from autograder.exercises.answers import EditedAnswer, answers
from autograder.exercises.edits import difference, entry
from autograder.feedback.translate import say
from autograder.grade.run import CellSource, Grader, sources_of
from autograder.grade.verdict import NOTHING_FITS, Attempt
from autograder.nbgrader.execute import name_answers
from autograder.sandbox import Backend, choose
from tfkit_course.small_file import read_notebook_cells


class UnexplainedError(ValueError):
    """A behaviour cannot be stored, found or exported; the message says why."""


@dataclass(frozen=True)
class UnexplainedAnswer:
    """A student's wrong answer, with its results for the questions that the whole class was asked."""

    student: str
    assignment: str
    exercise: Exercise
    sources: tuple[CellSource, ...]  # the whole notebook
    verdict: Verdict
    findings: tuple[Finding, ...]

    @property
    def code(self) -> str:
        """The cells that answer the exercise."""
        return "\n\n".join(one.text.strip() for one in self.sources if one.exercise == self.exercise.id)


@dataclass(frozen=True)
class Cluster:
    """Answers to an exercise that behave alike, the shortest first."""

    members: tuple[UnexplainedAnswer, ...]

    @property
    def exercise(self) -> Exercise:
        """The exercise that they answer."""
        return self.members[0].exercise

    @property
    def id(self) -> str:
        """An identifier such as `masks.softmax/3f2a` that stays the same while the shortest answer does."""
        return f"{self.exercise.id}/{hashlib.sha256(self.members[0].code.encode('utf-8', 'replace')).hexdigest()[:4]}"


@dataclass(frozen=True)
class CourseClass:
    """A course directory's settings for running answers, and its own misconceptions."""

    root: Path
    backend: Backend
    limits: Limits
    known: misconceptions.Entries
    folders: dict[str, dict[str, Path]]  # assignment → student → graded notebooks

    @property
    def file(self) -> Path:
        """The file of its own misconceptions."""
        return self.root / misconceptions.FILE

    def grader(self, sources: Sequence[CellSource]) -> Grader:
        """The grader that examines an answer of the class."""
        return Grader(list(sources), self.backend, limits=self.limits, known=self.known)


def open_course(root: Path, assignments: Sequence[str] = ()) -> CourseClass:
    """The course in `root` with its graded answers, of all assignments if none is named. Raises BadCourse,
    SandboxError, and BadMisconceptions where its file is damaged."""
    root = root.resolve()
    app = settings_of(root)
    boxed = boxed_settings(app)["BoxedExecute"]
    course = app.coursedir
    there = {path.name for path in (root / course.autograded_directory).glob("*/*") if path.is_dir()}
    wanted = assignments or sorted(there)
    folders = {one: students_in(course, course.autograded_directory, one) for one in wanted}
    if empty := [one for one in wanted if not folders[one]] or ["any assignment"] * (not wanted):
        raise BadCourse(f"no graded notebook of {empty[0]} is in {root}: run `autograder grade COURSE_DIR ASSIGNMENT` "
                        "or `nbgrader autograde ASSIGNMENT` first")  # fmt: skip
    known = misconceptions.read(root / misconceptions.FILE)
    backend = choose(bool(boxed.get("trust")), str(boxed.get("sandbox", "")), boxed.get("packages", ()))
    return CourseClass(root, backend, Limits(**boxed.get("limits", {})), known, folders)


def read(course: CourseClass, kinds: bool = False) -> Iterator[UnexplainedAnswer]:
    """The wrong answers without a name, each run once more. `kinds`: also those with a known kind of mistake.

    Raises BadCourse if a graded notebook cannot be read.
    """
    found = [
        (assignment, student, exercise, sources)
        for assignment, folders in course.folders.items()
        for student, folder in folders.items()
        for path in sorted(folder.glob("*.ipynb"))
        for exercise, sources in _without_name(path)
    ]
    shown = Console(stderr=True)
    for assignment, student, exercise, sources in track(found, "running the answers", console=shown, transient=True):
        verdict, attempt = course.grader(sources).examine(exercise, misconceptions.SEED)
        if _is_unexplained(verdict, attempt, kinds):
            yield UnexplainedAnswer(student, assignment, exercise, sources, verdict, tuple(attempt.findings))


def _without_name(path: Path) -> Iterator[tuple[Exercise, tuple[CellSource, ...]]]:
    """The exercises of a graded notebook whose verdict names no misconception, each with the cells."""
    try:
        nb = nbformat.from_dict({"cells": read_notebook_cells(path)})
        name_answers(nb)
        verdicts = [(cell.metadata.get("tfkit") or {}).get("verdict") for cell in nb.cells]
        unnamed = {one["exercise"] for one in verdicts if one and _is_unnamed(one)}
        sources = tuple(sources_of(nb))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadCourse(f"{path} cannot be read ({error}): delete it and grade again") from error
    yield from ((exercise, sources) for exercise in registry.exercises() if exercise.id in unnamed)


def _is_unnamed(verdict: dict[str, Any]) -> bool:
    """Whether the answer is wrong by its results, and not because it is missing or never ends."""
    return verdict["status"] == "failed" and not verdict["misconception"] and not verdict["reason"]


def _is_unexplained(verdict: Verdict, attempt: Attempt, kinds: bool) -> bool:
    if verdict.status != "failed" or verdict.misconception or verdict.reason or attempt.missing:
        return False
    return verdict.hint == say(NOTHING_FITS) or (kinds and bool(attempt.findings))


def clusters(found: Iterable[UnexplainedAnswer]) -> list[Cluster]:
    """Groups answers that give the same results for the same questions, the largest clusters first."""
    groups: list[list[UnexplainedAnswer]] = []
    for one in found:
        group = next((group for group in groups if _alike(group[0], one)), None)
        if group is None:
            groups.append([one])
        else:
            group.append(one)
    made = [Cluster(tuple(sorted(group, key=lambda one: (len(one.code), one.student)))) for group in groups]
    order = [exercise.id for exercise in registry.exercises()]
    return sorted(made, key=lambda one: (-len(one.members), order.index(one.exercise.id), one.id))


def _alike(one: UnexplainedAnswer, other: UnexplainedAnswer) -> bool:
    if one.exercise.id != other.exercise.id:
        return False
    first, second = (list(distinguishing_answers(answer.findings)) for answer in (one, other))
    places = [[(check.name, place) for check, place, _ in side] for side in (first, second)]
    return places[0] == places[1] and all(
        (a.difference is None) == (b.difference is None) and compare(a.actual, b.actual, a.probe.tolerance) is None
        for (_, _, a), (_, _, b) in zip(first, second, strict=True)
    )


def find_outdated(course: CourseClass) -> list[str]:
    """The stored behaviours that are no longer recognised, as `masks.softmax/squeezed`."""
    there = {exercise.id: exercise for exercise in registry.exercises()}
    return [
        f"{exercise}/{one['name']}"
        for exercise, entries in course.known.items()
        for one in (misconceptions.find_outdated(there[exercise], entries) if exercise in there else entries)
    ]


def name(course: CourseClass, cluster: Cluster, called: str, sentence: str) -> list[Path]:
    """Store the behaviour with its sentence; returns the written files. Raises UnexplainedError.

    It is run once more in a fresh box, so that the stored behaviour is known to be recognised.
    """
    shortest, exercise = cluster.members[0], cluster.exercise
    before = course.known.get(exercise.id, [])
    lost = [one["name"] for one in misconceptions.find_outdated(exercise, before)]  # these may be named again
    before = [one for one in before if one["name"] != called or called not in lost]
    taken = {one["name"] for one in before}
    if called in taken or any(called == one.stem for kind in ("wrong", "edge") for one in answers(exercise, kind)):
        raise UnexplainedError(f"{exercise.id} already has a misconception {called}: choose another name (--called)")
    kept = misconceptions.describe_findings(shortest.findings)
    if not kept:
        raise UnexplainedError(f"{cluster.id} cannot be stored: its answers are too large, or not numeric")
    one = {"name": called, "sentence": sentence, "seed": misconceptions.SEED, "answers": kept, "code": shortest.code}
    again, _ = replace(course, known={exercise.id: [one]}).grader(shortest.sources).examine(exercise, 1)
    if again.misconception != called:
        raise UnexplainedError(f"{cluster.id} cannot be recognised: its answers are not the same in a second run")
    entries = {**course.known, exercise.id: [*before, one]}
    misconceptions.write(course.file, entries)
    return [course.file, *_for_students(course, entries, exercise, {one.assignment for one in cluster.members})]


def _for_students(
    course: CourseClass, entries: misconceptions.Entries, exercise: Exercise, assignments: set[str]
) -> Iterator[Path]:
    """Writes the sentences beside the source notebooks, without students' code, so that they are released with
    these."""
    for folder in (course.root / "source" / assignment for assignment in sorted(assignments)):
        if folder.is_dir():
            file = folder / misconceptions.FILE
            here = {exercise.id, *misconceptions.read(file)}
            misconceptions.write(file, {id: entries[id] for id in entries if id in here}, code=False)
            yield file


def export_group(course: CourseClass, exercise: Exercise, called: str) -> str:
    """A stored behaviour as a table of wrong.toml: the lines of a right answer that its code replaces.

    Raises UnexplainedError if there is none, or if the code needs other cells.
    """
    known = {one["name"]: one for one in course.known.get(exercise.id, ())}
    if called not in known or not known[called].get("code"):
        there = ", ".join(f"{other}/{one['name']}" for other, them in course.known.items() for one in them) or "none"
        raise UnexplainedError(f"{course.file} has no {exercise.id}/{called} with its code; it has {there}")
    one = known[called]
    made = [edited for base in answers(exercise, "right") if (edited := _edited(base, one)) is not None]
    if not made:
        raise UnexplainedError(f"{exercise.id} has no right answer of which {called} is an edit")
    nearest = min(made, key=lambda edited: len(edited.change))
    text = nearest.read_text()
    verdict, _ = course.grader([CellSource("source", text)]).examine(exercise, misconceptions.SEED)
    if verdict.misconception != called:
        raise UnexplainedError(
            f"{called} uses definitions from other cells: write its table by hand, from its code in the file"
        )
    return entry(called, nearest.base.stem, nearest.sentence, nearest.change)


def _edited(base: Any, one: misconceptions.Entry) -> EditedAnswer | None:
    """The student's definitions below the imports of a right answer; None if that is the right answer."""
    text = base.read_text(encoding="utf-8")
    lines, body = text.splitlines(), ast.parse(text).body
    first = next((node for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Assign)), None)
    if first is None:
        return None
    start = min([first.lineno, *(mark.lineno for mark in getattr(first, "decorator_list", ()))]) - 1
    whole = "\n".join([*lines[:start], *one["code"].splitlines()])
    return (
        EditedAnswer(one["name"], base, one["sentence"], difference(text, whole))
        if whole.strip() != text.strip()
        else None
    )
