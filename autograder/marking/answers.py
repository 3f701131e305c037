"""The answers to a question, from the autograded notebooks, with their marks and in groups of similar ones."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from nbgrader.api import Gradebook

from autograder.api import SEPARATOR, misconceptions_of
from autograder.cluster.course import settings_of, students_in
from autograder.marking import alike
from autograder.marking.marks import MarkedQuestion, find_mark, version_of
from autograder.marking.prose import Prose
from autograder.marking.store import BadMark, Mark, MarkedCell
from tfkit_course.small_file import read_notebook_cells

SCHEME = re.compile(r"### BEGIN MARK SCHEME\n(.*?)\n### END MARK SCHEME", re.S)
Cell = Mapping[str, Any]


def source_of(root: Path, of: MarkedCell) -> list[Cell]:
    """The cells of the question's source notebook, empty if the notebook is missing."""
    return read_cells(root / "source" / of.assignment / f"{of.notebook}.ipynb")


def split_mark_scheme(source: Sequence[Cell], of: MarkedCell) -> tuple[str, str]:
    """The question's text without its mark scheme, and the mark scheme."""
    text = next((_text(cell) for cell in source if _id(cell) == of.cell), "")
    match = SCHEME.search(text)
    return SCHEME.sub("", text).strip(), match.group(1) if match else ""


def answers(
    root: Path, gradebook: Gradebook, question: MarkedQuestion, marks: Mapping[str, Mark], source: Sequence[Cell],
    only: str | None = None,
) -> dict[str, dict[str, Any]]:  # fmt: skip
    """The answer of each graded student, or of `only` one of them, in the form that the marking page expects."""
    coursedir, of, prose = settings_of(root).coursedir, question.of, Prose()
    folders = students_in(coursedir, coursedir.autograded_directory, of.assignment)
    shipped, found = {_text(cell) for cell in source}, {}
    for student, folder in folders.items():
        if only not in (None, student):
            continue
        try:
            now = find_mark(gradebook, question, student)
        except BadMark:  # in a folder, but not in the gradebook
            continue
        cells = read_cells(folder / f"{of.notebook}.ipynb")
        text = "\n\n".join(_parts(cells, of.cell, question.kind, shipped)).strip()
        last = marks.get(student)
        version = version_of(last, now, question)
        on_page = {"chosen": list(last.chosen), "own": last.own} if last and last.id == version else {}
        author = {} if now.manual is None else {"by": last.author if on_page and last else "formgrader"}
        found[student] = {
            "student": student, "text": text, "html": "" if question.kind == "code" else prose.html(text),
            "score": now.score, "auto": now.grade.auto_score, "waiting": bool(now.grade.needs_manual_grade),
            "comment": now.comment, "verdict": _verdict(cells, of.cell), "version": version,
            "chosen": [], "own": now.comment, **on_page, **author,
        }  # fmt: skip
    return found


def group_answers(found: Mapping[str, dict[str, Any]], kind: str) -> list[tuple[str, list[str]]]:
    """Groups of students with similar answers and a label for each, largest first; code first by its diagnosis."""
    empty = [student for student, one in found.items() if not one["text"]]
    texts = {student: one["text"] for student, one in found.items() if one["text"]}
    if kind == "code":
        named: dict[str, dict[str, str]] = {}
        for student, text in texts.items():
            named.setdefault(_named(found[student]["verdict"]), {})[student] = text
        groups = [(why, group) for why, some in named.items() for group in alike.groups_of_code(some)]
    else:
        groups = [(alike.label(texts, group), group) for group in alike.groups_of_prose(texts)]
    groups = sorted(groups, key=lambda one: -len(one[1]))
    return groups + ([("no answer", empty)] if empty else [])


def read_cells(path: Path) -> list[Cell]:
    """The cells of a notebook, empty if it cannot be read: a student's file may hold anything, a source may be gone."""
    try:
        return [*read_notebook_cells(path)]
    except (OSError, ValueError):
        return []


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
    return (
        {key: found.get(key) for key in ("status", "misconception", "misconceptions", "reason", "hint")}
        if found
        else None
    )


def _named(verdict: Mapping[str, Any] | None) -> str:
    if not verdict:
        return "not graded"
    why = SEPARATOR.join(misconceptions_of(verdict)).replace("_", " ")
    return why or ("right" if verdict["status"] == "passed" else "wrong, mistake not identified")


def _id(cell: Cell) -> str:
    return str((cell["metadata"].get("nbgrader") or {}).get("grade_id") or "")


def _text(cell: Cell) -> str:
    source = cell["source"]
    return (source if isinstance(source, str) else "".join(source)).strip()
