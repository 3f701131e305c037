"""What the marking page asks and says; every function takes a course directory and returns what JSON can hold."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from nbgrader.api import Gradebook, MissingEntry

from autograder.cluster.course import BadCourse, settings_of, students_in
from autograder.marking import alike
from autograder.marking.store import MarkedCell, MarkingStore

SCHEME = re.compile(r"### BEGIN MARK SCHEME\n(.*?)\n### END MARK SCHEME", re.S)
ITEM = re.compile(r"^- (\d+(?:[.,]\d+)?) points?: (.+)$")
FAULT = re.compile(r"^- Not enough: (.+)$")
SEEDED_BY = "mark scheme"
Cell = Mapping[str, Any]


class BadMark(Exception):
    """This cannot be shown or kept; the message says why."""


def overview(root: Path) -> list[dict[str, Any]]:
    """Every question that was handed in, by assignment, those that wait for a person first. Raises BadMark."""
    with _gradebook(root) as gradebook:
        found = []
        for assignment in sorted(gradebook.assignments, key=lambda one: one.name):
            for notebook in assignment.notebooks:
                grades = [grade for book in notebook.submissions for grade in book.grades]
                for cell in [*notebook.task_cells, *notebook.grade_cells]:
                    own = [grade for grade in grades if grade.name == cell.name]
                    waiting = sum(bool(grade.needs_manual_grade) for grade in own)
                    if own:
                        question = MarkedCell(assignment.name, notebook.name, cell.name)
                        kind = _kind(cell, notebook)
                        counts = {"answers": len(own), "waiting": waiting, "max_score": float(cell.max_score)}
                        found.append({**question._asdict(), "kind": kind, **counts})
    return sorted(found, key=lambda one: (one["assignment"], not one["waiting"], one["kind"] == "code"))


def question(root: Path, of: MarkedCell) -> dict[str, Any]:
    """One question: its text, mark scheme, comments, and the answers in groups of alike ones. Raises BadMark."""
    with _gradebook(root) as gradebook, MarkingStore(root) as store:
        cell, notebook = _cell(gradebook, of)
        kind = _kind(cell, notebook)
        source = _read(root / "source" / of.assignment / f"{of.notebook}.ipynb")
        text = _source_of(source, of.cell)
        scheme = match.group(1) if (match := SCHEME.search(text)) else ""
        store.seed(of, list(rubric(scheme)), SEEDED_BY)
        answers = {one["student"]: one for one in _answers(root, of, gradebook, kind, source)}
        marks = store.marks(of)
        for student, one in answers.items():
            mark = marks.get(student)
            one |= {"version": mark.id, "by": mark.by, "chosen": list(mark.chosen)} if mark else {"version": 0}
        bank = [
            {"id": one.id, "text": one.text, "points": one.points, "by": one.by,
             "used": sum(one.id in mark.chosen for mark in marks.values())}
            for one in store.comments(of)
        ]  # fmt: skip
        told = {"kind": kind, "max_score": float(cell.max_score), "scheme": scheme}
        asked = SCHEME.sub("", text).strip() if kind != "code" else ""
        return {**of._asdict(), **told, "text": asked, "bank": bank, "groups": _groups(answers, kind)}


def give(
    root: Path,
    of: MarkedCell,
    seen: Mapping[str, int],
    score: float | None,
    comment: str,
    chosen: Sequence[int],
    by: str,
) -> dict[str, Any]:
    """Mark all students in `seen`, each with the version of the mark that the marker saw. Raises BadMark.

    -> those that were marked, and those that another person has marked meanwhile, who keep that mark. score: None
    takes back the mark by hand.
    """
    with _gradebook(root) as gradebook, MarkingStore(root) as store:
        cell, notebook = _cell(gradebook, of)
        if score is not None and not 0 <= score <= float(cell.max_score):
            raise BadMark(f"a mark here is from 0 to {float(cell.max_score):g}; got {score:g}")
        commented = _solution_of(of.cell, notebook)
        done, meanwhile = [], {}
        with store.alone():
            now = store.marks(of)
            for student, version in seen.items():
                mark = now.get(student)
                if mark is not None and mark.id != version:
                    meanwhile[student] = mark.by
                    continue
                _write(gradebook, of, student, score, commented, comment)
                store.add_mark(of, student, score, comment, chosen, by)
                done.append(student)
            gradebook.db.commit()
    return {"done": done, "meanwhile": meanwhile}


def add_comment(root: Path, of: MarkedCell, text: str, points: float | None, by: str) -> int:
    """Put a comment into the question's bank -> its id. Raises BadMark."""
    if not text.strip():
        raise BadMark("the comment is empty")
    with MarkingStore(root) as store:
        return store.add_comment(of, text.strip(), points, by)


def drop_comment(root: Path, of: MarkedCell, number: int) -> None:
    """Take a comment out of the bank."""
    with MarkingStore(root) as store:
        store.drop_comment(of, number)


def extensions(root: Path, assignment: str) -> list[dict[str, Any]]:
    """Who handed the assignment in, and the hours of extension that each has in the gradebook. Raises BadMark."""
    with _gradebook(root) as gradebook:
        handed = gradebook.assignment_submissions(assignment)
        rows = [{"student": one.student.id, "hours": one.extension.total_seconds() / 3600 if one.extension else 0.0}
                for one in handed]  # fmt: skip
    return sorted(rows, key=lambda row: str(row["student"]))


def extend(root: Path, assignment: str, student: str, hours: float) -> None:
    """Give the student so many hours more than the due date; 0 takes an extension back. Raises BadMark."""
    if not 0 <= hours <= 24 * 366:
        raise BadMark("an extension is from 0 hours to a year")
    with _gradebook(root) as gradebook:
        try:
            gradebook.grant_extension(assignment, student, hours=hours)
        except MissingEntry:
            raise BadMark(
                f"{student} has not handed in {assignment} yet: write the extension into nbgrader_config.py "
                f'(c.LatePolicy.extensions = {{"{assignment}": {{"{student}": {hours:g}}}}})'
            ) from None


def rubric(scheme: str) -> Iterator[tuple[str, float | None]]:
    """The lines of a mark scheme that a marker can choose: what earns points, and what is not enough."""
    for line in scheme.splitlines():
        if match := ITEM.match(line):
            yield _sentence(match.group(2).strip()), float(match.group(1).replace(",", "."))
        elif match := FAULT.match(line):
            yield f"Not enough: {match.group(1).strip()}", 0.0


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


# ---------------------------------------------------------------------------------------------- the gradebook


def _gradebook(root: Path) -> Gradebook:
    try:
        coursedir = settings_of(root).coursedir
    except BadCourse as error:
        raise BadMark(str(error)) from error
    return Gradebook(coursedir.db_url, coursedir.course_id)


def _cell(gradebook: Gradebook, of: MarkedCell) -> tuple[Any, Any]:
    try:
        notebook = gradebook.find_notebook(of.notebook, of.assignment)
        return gradebook.find_graded_cell(of.cell, of.notebook, of.assignment), notebook
    except MissingEntry:
        raise BadMark(f"the gradebook has no question {of.cell} in {of.assignment}") from None


def _kind(cell: Any, notebook: Any) -> str:
    """task: an answer in cells below; answer: in the cell itself; code: checked by a program."""
    if cell in notebook.task_cells:
        return "task"
    return "answer" if any(one.name == cell.name for one in notebook.solution_cells) else "code"


def _solution_of(cell: str, notebook: Any) -> str | None:
    """The cell that carries the comment on a question; None where no cell can."""
    names = {one.name for one in [*notebook.solution_cells, *notebook.task_cells]}
    return next((name for name in (cell, cell.replace("check-", "solution-", 1)) if name in names), None)


def _write(
    gradebook: Gradebook, of: MarkedCell, student: str, score: float | None, commented: str | None, comment: str
) -> None:
    try:
        grade = gradebook.find_grade(of.cell, of.notebook, of.assignment, student)
    except MissingEntry:
        raise BadMark(f"{student} has nothing graded in {of.assignment}") from None
    grade.manual_score = score
    grade.needs_manual_grade = score is None and grade.auto_score is None
    if commented:
        said = gradebook.find_comment(commented, of.notebook, of.assignment, student)
        said.manual_comment = comment or None


# ---------------------------------------------------------------------------------------------- the answers


def _answers(
    root: Path, of: MarkedCell, gradebook: Gradebook, kind: str, source: Sequence[Cell]
) -> Iterator[dict[str, Any]]:
    coursedir = settings_of(root).coursedir
    folders = students_in(coursedir, coursedir.autograded_directory, of.assignment)
    shipped = {_text(cell) for cell in source}
    commented = _solution_of(of.cell, gradebook.find_notebook(of.notebook, of.assignment))
    for student, folder in folders.items():
        try:
            grade = gradebook.find_grade(of.cell, of.notebook, of.assignment, student)
        except MissingEntry:
            continue
        cells = _read(folder / f"{of.notebook}.ipynb")
        text = "\n\n".join(_parts(cells, of.cell, kind, shipped)).strip()
        said = gradebook.find_comment(commented, of.notebook, of.assignment, student) if commented else None
        yield {
            "student": student, "text": text, "score": None if _unmarked(grade) else float(grade.score),
            "auto": grade.auto_score, "waiting": bool(grade.needs_manual_grade),
            "comment": (said.manual_comment or "") if said else "", "verdict": _verdict(cells, of.cell),
        }  # fmt: skip


def _unmarked(grade: Any) -> bool:
    return grade.manual_score is None and grade.auto_score is None


def _parts(cells: Sequence[Cell], name: str, kind: str, shipped: set[str]) -> Iterator[str]:
    """The text of an answer; for a task, what the student wrote below it, up to the next cell that is graded."""
    wanted = name if kind != "code" else name.replace("check-", "solution-", 1)
    at = next((n for n, cell in enumerate(cells) if _id(cell) == wanted), None)
    if at is None:
        return
    if kind != "task":
        yield _text(cells[at])
        return
    for cell in cells[at + 1 :]:
        if _id(cell):
            return
        if _text(cell) not in shipped and not cell["metadata"].get("tfkit"):
            yield _text(cell)


def _verdict(cells: Sequence[Cell], name: str) -> dict[str, Any] | None:
    marks = (cell["metadata"].get("tfkit") or {} for cell in cells if _id(cell) == name)
    found = next((mark["verdict"] for mark in marks if isinstance(mark.get("verdict"), dict)), None)
    return {key: found.get(key) for key in ("status", "misconception", "reason", "hint")} if found else None


def _groups(answers: Mapping[str, dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    """Alike answers together; code first by what the grader named, since that is what the marks are about."""
    empty = [student for student, one in answers.items() if not one["text"]]
    texts = {student: one["text"] for student, one in answers.items() if one["text"]}
    if kind == "code":
        named: dict[str, dict[str, str]] = {}
        for student, text in texts.items():
            named.setdefault(_named(answers[student]["verdict"]), {})[student] = text
        found = [(why, group) for why, some in named.items() for group in alike.groups_of_code(some)]
    else:
        found = [(alike.label(texts, group), group) for group in alike.groups_of_prose(texts)]
    found = sorted(found, key=lambda one: -len(one[1]))
    found += [("no answer", empty)] if empty else []
    return [{"label": name, "answers": [answers[student] for student in group]} for name, group in found]


def _named(verdict: Mapping[str, Any] | None) -> str:
    if not verdict:
        return "not graded"
    why = str(verdict["misconception"] or "").replace("_", " ")
    return why or ("right" if verdict["status"] == "passed" else "wrong in a way that has no name")


def _read(path: Path) -> list[Cell]:
    try:
        return list(json.loads(path.read_text(encoding="utf-8"))["cells"])
    except (OSError, ValueError, KeyError, TypeError):  # a student's file may be anything, and a source may be gone
        return []


def _source_of(cells: Sequence[Cell], name: str) -> str:
    return next((_text(cell) for cell in cells if _id(cell) == name), "")


def _id(cell: Cell) -> str:
    return str((cell["metadata"].get("nbgrader") or {}).get("grade_id") or "")


def _text(cell: Cell) -> str:
    source = cell["source"]
    return (source if isinstance(source, str) else "".join(source)).strip()
