"""Sharing the answers that wait among markers: whole groups of alike answers, or whole questions, in even parts.

A share says who is to mark; it locks nothing. Who marks another's share is told whose it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from autograder.marking import desk
from autograder.marking.marks import BadMark
from autograder.marking.store import MarkedCell, MarkingStore

BY = ("groups", "questions")
Parts = list[tuple[MarkedCell, list[str]]]


def share(root: Path, assignment: str, markers: Sequence[str], how: str, by: str) -> dict[str, dict[str, int]]:
    """Divide all answers of the assignment that wait among the markers, groups of alike answers or questions whole.

    -> marker -> how many answers of each question are theirs now. No markers: nobody in particular. Raises BadMark.
    """
    names = list(dict.fromkeys(name.strip() for name in markers if name.strip()))
    if how not in BY:
        raise BadMark(f"answers are shared by {' or '.join(BY)}, not by {how!r}")
    parts = _parts(root, assignment, how, len(names))
    if not parts:
        raise BadMark(f"no answer of {assignment} waits for a mark")
    given = assign_evenly(parts, names)
    told: dict[str, dict[str, int]] = {name: {} for name in names}
    with MarkingStore(root) as store, store.alone():
        for (of, students), marker in given:
            store.add_shares(of, dict.fromkeys(students, marker), by)
            if marker:
                told[marker][of.cell] = told[marker].get(of.cell, 0) + len(students)
    return told


def assign_evenly(parts: Parts, names: Sequence[str]) -> list[tuple[tuple[MarkedCell, list[str]], str]]:
    """Each part with its marker: the largest part first, to who has least so far."""
    load = dict.fromkeys(names, 0)
    given = []
    for part in sorted(parts, key=lambda one: -len(one[1])):
        marker = min(load, key=lambda name: load[name]) if load else ""
        if load:
            load[marker] += len(part[1])
        given.append((part, marker))
    return given


def _parts(root: Path, assignment: str, how: str, markers: int) -> Parts:
    questions = [one for one in desk.overview(root) if one["assignment"] == assignment and one["waiting"]]
    waiting = sum(one["waiting"] for one in questions)
    most = max(1, -(-waiting // max(1, markers)))  # a part of more answers than that would be no even share
    found: Parts = []
    for one in questions:
        of = MarkedCell(one["assignment"], one["notebook"], one["cell"])
        groups = [[answer["student"] for answer in group["answers"] if answer["waiting"]]
                  for group in desk.question(root, of)["groups"]]  # fmt: skip
        whole = [student for group in groups for student in group]
        for students in [whole] if how == "questions" else groups:
            size = len(students) if how == "questions" else most
            found += [(of, students[at : at + size]) for at in range(0, len(students), max(1, size))]
    return found
