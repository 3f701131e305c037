"""The requests of the marking page: every function takes a course directory and returns JSON-serialisable values.

Every function raises BadMark if the gradebook cannot be read or if the request does not fit it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from nbgrader.api import Gradebook, MissingEntry

from autograder.marking import rubric
from autograder.marking.answers import answers, group_answers, source_of, split_mark_scheme
from autograder.marking.marks import (
    FORMGRADER,
    MarkedQuestion,
    find_mark,
    find_question,
    kind_of,
    open_gradebook,
    version_of,
    write_mark,
)
from autograder.marking.prose import Prose
from autograder.marking.rubric import BadRubric, Items
from autograder.marking.store import BadMark, Mark, MarkedCell, MarkingStore


def overview(root: Path) -> list[dict[str, Any]]:
    """Every question with submitted answers, by assignment, those with unmarked answers first.

    Raises BadMark if the gradebook or the rubric cannot be read.
    """
    with open_gradebook(root) as gradebook, MarkingStore(root) as store:
        found = []
        for assignment in sorted(gradebook.assignments, key=lambda one: one.name):
            for notebook in assignment.notebooks:
                grades = [grade for book in notebook.submissions for grade in book.grades]
                for cell in [*notebook.task_cells, *notebook.grade_cells]:
                    own = [grade for grade in grades if grade.name == cell.name]
                    if own:
                        of = MarkedCell(assignment.name, notebook.name, cell.name)
                        found.append({**of._asdict(), "kind": kind_of(cell, notebook), **_counts(own, cell, store, of)})
    return sorted(found, key=lambda one: (one["assignment"], not one["waiting"], one["kind"] == "code"))


def _counts(grades: Sequence[Any], cell: Any, store: MarkingStore, of: MarkedCell) -> dict[str, Any]:
    """The number of answers and of unmarked answers, in all and for each marker."""
    waiting = {grade.student.id for grade in grades if grade.needs_manual_grade}
    markers: dict[str, dict[str, int]] = {}
    for student, marker in store.shares(of).items():
        if marker:
            one = markers.setdefault(marker, {"answers": 0, "waiting": 0})
            one["answers"] += 1
            one["waiting"] += student in waiting
    counts = {"answers": len(grades), "waiting": len(waiting), "max_score": float(cell.max_score)}
    return {**counts, "markers": markers}


def question(root: Path, of: MarkedCell) -> dict[str, Any]:
    """One question: its text, mark scheme, rubric, and the answers in groups of similar ones.

    Raises BadMark if the gradebook or the rubric cannot be read.
    """
    with open_gradebook(root) as gradebook, MarkingStore(root) as store:
        found, source, prose = find_question(gradebook, of), source_of(root, of), Prose()
        text, scheme = split_mark_scheme(source, of)
        items, marks, shares = _items(root, store, of, scheme), store.marks(of), store.shares(of)
        given = answers(root, gradebook, found, marks, source)
        for student, one in given.items():
            one["marker"] = shares.get(student, "")
        groups = [{"label": label, "answers": [given[student] for student in group]}
                  for label, group in group_answers(given, found.kind)]  # fmt: skip
        outdated = [mark for mark in marks.values() if mark.chosen and _new_values(mark, items, found) is not None]
        return {
            **of._asdict(), "kind": found.kind, "max_score": found.max_score,
            "text": "" if found.kind == "code" else prose.without_title(text), "scheme": prose.html(scheme),
            "rubric": _as_json(items, marks), "outdated": len(outdated), "groups": groups,
        }  # fmt: skip


def set_marks(
    root: Path, of: MarkedCell, versions: Mapping[str, int], score: float | None, own: str, chosen: Sequence[int],
    author: str,
) -> dict[str, Any]:  # fmt: skip
    """Give one mark to all students in `versions`, which holds the version of each mark that the marker saw.

    `own` is the marker's own text, which follows the sentences of the chosen items in the comment. A score of None
    removes the manual mark. Returns the students who were marked (`done`), and the marks that another person has
    given in the meantime, which are left as they are (`meanwhile`). Raises BadMark if the score is out of range or the
    rubric has no such item.
    """
    with open_gradebook(root) as gradebook, MarkingStore(root) as store:
        found = find_question(gradebook, of)
        if score is not None and not 0 <= score <= found.max_score:
            raise BadMark(f"the mark must be between 0 and {found.max_score:g}, got {score:g}")
        done, meanwhile = [], {}
        with store.transaction():
            picked = _pick(_items(root, store, of), chosen)
            comment, extra = rubric.feedback_comment(picked, own), _adjustment(picked, score, found)
            now = store.marks(of)
            for student, version in versions.items():
                last, there = now.get(student), find_mark(gradebook, found, student)
                if (current := version_of(last, there, found)) != version:
                    by_whom = last.author if last and current == last.id else FORMGRADER
                    entry = {"by": by_whom, "score": there.score, "comment": there.comment, "version": current}
                    meanwhile[student] = entry
                    continue
                write_mark(gradebook, found, student, score, comment)
                store.add_mark(
                    of,
                    student,
                    score,
                    comment,
                    author,
                    chosen=[one.id for one in picked],
                    own=own,
                    extra=extra,
                )
                done.append(student)
            gradebook.db.commit()
    return {"done": done, "meanwhile": meanwhile}


def _pick(items: Items, numbers: Sequence[int]) -> Items:
    try:
        return rubric.find_items(items, numbers)
    except BadRubric as error:
        raise BadMark(str(error)) from error


def _adjustment(chosen: Items, score: float | None, found: MarkedQuestion) -> float:
    return 0.0 if score is None or not chosen else score - rubric.points_of(chosen, found.max_score)


# ---------------------------------------------------------------------------------------------- the rubric


def add_item(root: Path, of: MarkedCell, text: str, points: float | None, author: str) -> int:
    """Add an item to the question's rubric and return its number. Raises BadMark if the item is invalid."""
    with open_gradebook(root) as gradebook, MarkingStore(root) as store, store.transaction():
        find_question(gradebook, of)
        items = _edit(lambda: rubric.add(_items(root, store, of), text, points, author))
        _keep(root, of, items)
        store.add_change(of, "added", text.strip(), 0, author)
        return items[-1].id


def remove_item(root: Path, of: MarkedCell, number: int, author: str) -> None:
    """Remove an item from the rubric; marks that were given with it are unchanged. Raises BadMark if there is none."""
    with MarkingStore(root) as store, store.transaction():
        items = _edit(lambda: rubric.change(_items(root, store, of), number, dropped=True))
        _keep(root, of, items)
        store.add_change(of, "dropped", rubric.find_items(items, [number])[0].text, 0, author)


def change_item(
    root: Path, of: MarkedCell, number: int, text: str, points: float | None, author: str
) -> dict[str, Any]:
    """Change the text or the points of an item, and update every mark that was given with it.

    Returns the same as `apply_rubric`. Raises BadMark if there is no such item or the change is invalid.
    """
    with open_gradebook(root) as gradebook, MarkingStore(root) as store, store.transaction():
        items = _edit(lambda: rubric.change(_items(root, store, of), number, text=text.strip(), points=points))
        done = _rescore(gradebook, store, find_question(gradebook, of), items, author, number)
        store.add_change(of, "changed", text.strip(), len(done["done"]), author)
        _keep(root, of, items)
        gradebook.db.commit()
        return done


def apply_rubric(root: Path, of: MarkedCell, author: str) -> dict[str, Any]:
    """Update every mark to the rubric in the file, which may have been edited by hand.

    Returns the students whose mark has changed (`done`), and those whose mark was left as it is because it was last
    changed elsewhere, as in the formgrader (`left`). Raises BadMark if the rubric cannot be read.
    """
    with open_gradebook(root) as gradebook, MarkingStore(root) as store, store.transaction():
        items = _items(root, store, of)
        done = _rescore(gradebook, store, find_question(gradebook, of), items, author)
        store.add_change(of, "applied", rubric.FILE, len(done["done"]), author)
        gradebook.db.commit()
        return done


def _rescore(
    gradebook: Gradebook,
    store: MarkingStore,
    found: MarkedQuestion,
    items: Items,
    author: str,
    number: int | None = None,
) -> dict[str, Any]:
    """Recompute the marks that were given with item `number`, or with any item, from the current rubric."""
    done, left = [], []
    for student, mark in store.marks(found.of).items():
        changed = _new_values(mark, items, found) if number is None or number in mark.chosen else None
        if changed is None or not mark.chosen:
            continue
        if version_of(mark, find_mark(gradebook, found, student), found) != mark.id:
            left.append(student)
            continue
        score, comment = changed
        write_mark(gradebook, found, student, score, comment)
        store.add_mark(found.of, student, score, comment, author, chosen=mark.chosen, own=mark.own, extra=mark.extra)
        done.append(student)
    return {"done": done, "left": left}


def _new_values(mark: Mark, items: Items, found: MarkedQuestion) -> tuple[float | None, str] | None:
    """The mark's score and comment according to these items; None if they are unchanged, or an item was deleted."""
    try:
        chosen = rubric.find_items(items, mark.chosen)
    except BadRubric:  # somebody deleted it from the file: the mark stays as it was given
        return None
    score = None if mark.score is None else rubric.points_of(chosen, found.max_score, mark.extra)
    values = score, rubric.feedback_comment(chosen, mark.own)
    return None if values == (mark.score, mark.comment) else values


def _items(root: Path, store: MarkingStore, of: MarkedCell, scheme: str = "") -> Items:
    """The question's items, initially the lines of its mark scheme. Raises BadMark if the rubric cannot be read."""
    items = _edit(lambda: rubric.read(root).get(of, ()))
    if items or not (seeds := rubric.items_from_mark_scheme(scheme)):
        return items
    with store.transaction():
        _keep(root, of, seeds)
    return seeds


def _keep(root: Path, of: MarkedCell, items: Items) -> None:
    """Write the rubric file; the caller holds the store's transaction, so only one marker writes at a time."""
    try:
        rubric.write(root, {**rubric.read(root), of: items})
    except (BadRubric, OSError) as error:
        raise BadMark(f"the rubric was not saved: {error}") from error


def _edit(make: Any) -> Any:
    try:
        return make()
    except BadRubric as error:
        raise BadMark(str(error)) from error


def selectable_items(root: Path, of: MarkedCell, marks: Mapping[str, Mark]) -> list[dict[str, Any]]:
    """The items of a question's rubric that can be chosen, and how often each is used.

    Raises BadMark if the gradebook or the rubric cannot be read.
    """
    return _as_json(_edit(lambda: rubric.read(root).get(of, ())), marks)


def _as_json(items: Items, marks: Mapping[str, Mark]) -> list[dict[str, Any]]:
    return [
        {"id": one.id, "text": one.text, "points": one.points, "by": one.author,
         "used": sum(one.id in mark.chosen for mark in marks.values())}
        for one in items if not one.dropped
    ]  # fmt: skip


# ---------------------------------------------------------------------------------------------- extensions, history


def extensions(root: Path, assignment: str) -> list[dict[str, Any]]:
    """The students who submitted the assignment, and the hours of extension of each.

    Raises BadMark if the gradebook or the rubric cannot be read.
    """
    with open_gradebook(root) as gradebook:
        submissions = gradebook.assignment_submissions(assignment)
        rows = [{"student": one.student.id, "hours": one.extension.total_seconds() / 3600 if one.extension else 0.0}
                for one in submissions]  # fmt: skip
    return sorted(rows, key=lambda row: str(row["student"]))


def extend(root: Path, assignment: str, student: str, hours: float) -> None:
    """Extend the student's due date by `hours`; 0 removes the extension.

    Raises BadMark if the hours are out of range or the student has not submitted the assignment.
    """
    if not 0 <= hours <= 24 * 366:
        raise BadMark("an extension must be between 0 hours and a year")
    with open_gradebook(root) as gradebook:
        try:
            gradebook.grant_extension(assignment, student, hours=hours)
        except MissingEntry:
            raise BadMark(
                f"{student} has not submitted {assignment} yet: write the extension into nbgrader_config.py "
                f'(c.LatePolicy.extensions = {{"{assignment}": {{"{student}": {hours:g}}}}})'
            ) from None


def history(root: Path, of: MarkedCell) -> list[dict[str, Any]]:
    """All changes of the marks and the rubric of a question that were made on the page, latest first."""
    with MarkingStore(root) as store:
        answered = store.answered_at()
        rows = [{"kind": "mark", "at": one.at, "by": one.author, "student": one.student, "score": one.score,
                 "text": one.comment} for one in store.all_marks(of)]  # fmt: skip
        rows += [{"kind": one["what"], "at": one["at"], "by": one["by"], "text": one["item"], "marks": one["marks"]}
                 for one in store.changes(of)]  # fmt: skip
        for one in store.requests():
            if one.of == of:
                rows.append({"kind": "asked", "at": one.at, "by": one.student, "student": one.student,
                             "text": one.reason})  # fmt: skip
                if one.accepted is not None:
                    rows.append({"kind": "accepted" if one.accepted else "declined", "at": answered[one.id],
                                 "by": one.author, "student": one.student, "text": one.sentence})  # fmt: skip
    return sorted(rows, key=lambda row: str(row["at"]), reverse=True)
