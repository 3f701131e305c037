"""Sharing answers among markers, evenly, with groups of alike answers kept together."""

from collections import Counter

import pytest

from autograder.marking import desk, sharing
from autograder.marking.store import BadMark, MarkedCell

from .graded import CODE, TASK, UNIT


def markers(root, of=TASK):
    found = desk.question(root, of)["groups"]
    return {one["student"]: one["marker"] for group in found for one in group["answers"]}


def test_the_waiting_answers_are_shared_and_shown(root):
    assert sharing.share(root, UNIT, ["eve", " otto ", "eve", ""], "groups", "eve") == {
        "eve": {TASK.cell: 2},
        "otto": {TASK.cell: 1},
    }
    assert markers(root) == {"ada": "eve", "ben": "eve", "chen": "otto"}  # ada and ben say the same
    assert set(markers(root, CODE).values()) == {""}  # a program has marked those
    task = next(one for one in desk.overview(root) if one["cell"] == TASK.cell)
    assert task["markers"] == {"eve": {"answers": 2, "waiting": 2}, "otto": {"answers": 1, "waiting": 1}}
    desk.set_marks(root, TASK, {"chen": 0}, 0, "", [], "otto")
    task = next(one for one in desk.overview(root) if one["cell"] == TASK.cell)
    assert task["markers"]["otto"] == {"answers": 1, "waiting": 0}


def test_shares_can_be_taken_back_and_given_anew(root):
    sharing.share(root, UNIT, ["eve"], "questions", "eve")
    assert set(markers(root).values()) == {"eve"}
    sharing.share(root, UNIT, [], "groups", "eve")
    assert set(markers(root).values()) == {""}


def test_another_markers_share_can_be_marked_and_shows_who_did(root):
    sharing.share(root, UNIT, ["eve"], "groups", "eve")
    assert desk.set_marks(root, TASK, {"ada": 0}, 1, "", [], "otto")["done"] == ["ada"]


def test_parts_are_even(root):
    of = MarkedCell("a", "a", "a")
    parts = [(of, [str(number)] * size) for number, size in enumerate((7, 5, 4, 3, 3, 2))]
    load = Counter()
    for (_, students), marker in sharing.assign_evenly(parts, ["x", "y", "z"]):
        load[marker] += len(students)
    assert sorted(load.values()) == [7, 8, 9]


def test_a_group_larger_than_a_share_is_divided(root):
    told = sharing.share(root, UNIT, ["a", "b", "c"], "groups", "a")
    assert [sum(one.values()) for one in told.values()] == [1, 1, 1]


def test_what_cannot_be_shared_is_said(root):
    with pytest.raises(BadMark, match="not by 'luck'"):
        sharing.share(root, UNIT, ["eve"], "luck", "eve")
    with pytest.raises(BadMark, match="has no unmarked answers"):
        sharing.share(root, "01-none", ["eve"], "groups", "eve")
