"""Proofs of puzzles: right orders pass, mistakes fail, and what does not hold is complained of."""

from dataclasses import replace

import pytest

from autograder.exercises import registry
from autograder.ordering import prove
from autograder.ordering.make import make


def test_an_exercise_is_proved():
    proof = prove.prove_exercise("masks.decoder", 10)
    assert proof.complaints == () and (proof.lines, proof.orders) == (4, 2) and proof.mistakes > 3


def test_shuffles_of_other_students_are_answered_by_a_right_order():
    proof = prove.prove_exercise("masks.decoder", 10, shuffles=40)
    assert proof.complaints == () and proof.shuffles == 40
    assert "40 shuffles were answered by a right order: 0 of all these" in prove.summary([proof])


def test_a_right_order_that_is_read_wrongly_is_complained_of(monkeypatch):
    monkeypatch.setattr(prove, "read_order", lambda puzzle, text: puzzle.right[::-1])
    proof = prove.prove_exercise("masks.decoder", 10, shuffles=3)
    assert len(proof.complaints) == 3 and all("is refused" in one for one in proof.complaints)


def test_without_an_order_that_passes_no_shuffle_is_answered(monkeypatch):
    monkeypatch.setattr(prove, "passes", lambda *_: False)
    proof = prove.prove_exercise("masks.decoder", 10, shuffles=3)
    assert proof.complaints and proof.shuffles == 0


def test_an_exercise_without_lines_has_its_reason():
    proof = prove.prove_exercise("rnn.cell", 10)
    assert "only 1 line" in proof.reason and "0 of 1 exercises" in prove.summary([proof])


def test_a_refused_order_and_an_accepted_mistake_are_complained_of(monkeypatch):
    puzzle = make(registry.find("masks.decoder"), "0")
    right = puzzle.line(puzzle.right[-1].number)
    harmless = tuple(
        replace(line, text=right.text + "  # the same", place=right.place, replaces=1) if line.mistake else line
        for line in puzzle.lines
    )
    monkeypatch.setattr(prove, "make", lambda *_: replace(puzzle, lines=harmless))
    monkeypatch.setattr(prove, "equivalent", lambda *_: [puzzle.right[::-1]])
    proof = prove.prove_exercise("masks.decoder", 10)
    assert len(proof.complaints) == 2
    assert "is refused" in proof.complaints[0] and "passes" in proof.complaints[1]


def test_of_exchanged_lines_none_is_blamed_that_is_right():
    proof = prove.prove_exercise("transformer.feed_forward", 5)
    assert proof.complaints == () and proof.exchanges == prove.EXCHANGES
    assert f"{prove.EXCHANGES} with two lines exchanged; {prove.STUDENTS} shuffles" in prove.summary([proof])


@pytest.mark.parametrize(("line", "why"), [(1, "line 1 is named, and the first"), (9, "cannot be completed")])
def test_a_line_that_is_blamed_wrongly_is_complained_of(line, why, monkeypatch):
    monkeypatch.setattr(prove, "first_wrong", lambda *_: (line, ""))
    monkeypatch.setattr(prove, "EXCHANGES", 40)
    complaints = prove.prove_exercise("transformer.feed_forward", 1).complaints
    assert any(why in one for one in complaints)


def test_a_line_with_which_a_right_order_begins_must_not_be_blamed(monkeypatch):
    puzzle = make(registry.find("masks.decoder"), "0")
    monkeypatch.setattr(prove, "first_wrong", lambda *_: (2, ""))
    monkeypatch.setattr(prove, "passes", lambda *_: True)
    (other,) = prove.equivalent(puzzle, 1)
    right = (puzzle.right, other)
    assert "begins the same way" in prove._blames(puzzle, other, 0, right, ())
    assert prove._blames(puzzle, puzzle.right[::-1], 0, right, ()) == ""


@pytest.mark.nightly  # every puzzle with up to 20 of its orders, as `autograder order prove` runs them
@pytest.mark.parametrize("unit", sorted({exercise.unit for exercise in registry.exercises()}))
def test_puzzles_of_each_unit_are_proved(unit):
    names = [exercise.id for exercise in registry.exercises() if exercise.unit == unit]
    proofs = [prove.prove_exercise(name, 20) for name in names]
    assert [line for proof in proofs for line in proof.complaints] == []
