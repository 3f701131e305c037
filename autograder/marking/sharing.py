"""Divides unmarked answers evenly among markers, by groups of similar answers or by whole questions.

A share assigns answers to a marker but locks nothing: the page warns whoever marks another marker's share.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from autograder.marking import desk
from autograder.marking.store import BadMark, MarkedCell, MarkingStore

BY = ("groups", "questions")
Parts = list[tuple[MarkedCell, list[str]]]


def share(root: Path, assignment: str, markers: Sequence[str], how: str, author: str) -> dict[str, dict[str, int]]:
    """Divide all unmarked answers of the assignment among the markers; a group, or a question, is never split.

    Returns for each marker the number of answers of each question. Without markers, the answers are assigned to
    nobody. Raises BadMark if `how` is unknown or no answer is unmarked.
    """
    names = list(dict.fromkeys(name.strip() for name in markers if name.strip()))
    if how not in BY:
        raise BadMark(f"answers can be divided by {' or '.join(BY)}, not by {how!r}")
    parts = _parts(root, assignment, how, len(names))
    if not parts:
        raise BadMark(f"{assignment} has no unmarked answers")
    given = assign_evenly(parts, names)
    counts: dict[str, dict[str, int]] = {name: {} for name in names}
    with MarkingStore(root) as store, store.transaction():
        for (of, students), marker in given:
            store.add_shares(of, dict.fromkeys(students, marker), author)
            if marker:
                counts[marker][of.cell] = counts[marker].get(of.cell, 0) + len(students)
    return counts


def assign_evenly(parts: Parts, names: Sequence[str]) -> list[tuple[tuple[MarkedCell, list[str]], str]]:
    """Assign each part to a marker: the largest part first, to the marker with the fewest answers so far."""
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
    most = max(1, -(-waiting // max(1, markers)))  # a larger part would make the shares uneven
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
