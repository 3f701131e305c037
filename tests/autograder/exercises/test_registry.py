"""A name that is nearly right is corrected; two packages that offer one exercise id are named in a line."""

from __future__ import annotations

from dataclasses import replace
from importlib.metadata import EntryPoint

import pytest

from autograder import cli
from autograder.exercises import registry


@pytest.fixture
def two_courses(monkeypatch):
    """Our own course under two names, as two packages with a unit in common offer it."""
    points = [EntryPoint(name, value, registry.GROUP) for name, value in
              (("course", "course:exercises"), ("myweek", "course:all_of_it"))]  # fmt: skip
    ours = registry.exercises()
    monkeypatch.setattr("course.all_of_it", lambda: ours, raising=False)
    monkeypatch.setattr(registry, "entry_points", lambda group: points)
    registry.exercises.cache_clear()
    yield
    registry.exercises.cache_clear()


def test_an_exercise_that_two_packages_offer_is_said_in_a_line(two_courses, capsys):
    with pytest.raises(SystemExit) as end:
        cli.main(["list"])
    said = capsys.readouterr().err
    assert end.value.code == 2 and said.count("\n") == 1
    assert "two exercises are called rnn.cell" in said and "course:all_of_it" in said and "uninstall" in said


@pytest.mark.parametrize(
    ("asked", "meant"),
    [("mask.causal", "masks.causal"), ("rnn_cell", "rnn.cell"), ("dpo", "tuning.dpo"), ("causal_mask", "masks.causal")],
)
def test_a_name_that_is_nearly_right_is_corrected(asked, meant):
    with pytest.raises(registry.UnknownExercise, match=rf"'{asked}' \(did you mean {meant}\?\)"):
        registry.find(asked)


@pytest.mark.parametrize("asked", ["nope", "no.such", "typo", "", "x"])
def test_of_a_name_that_is_like_none_nothing_is_guessed(asked):
    with pytest.raises(registry.UnknownExercise, match=rf"no exercise is called '{asked}'; `autograder list` shows"):
        registry.find(asked)


def test_earlier_exercises_of_a_unit_are_those_in_front():
    decoder = registry.find("masks.decoder")
    assert [one.id for one in registry.earlier_in_unit(decoder)][-2:] == ["masks.causal", "masks.padding"]
    assert {one.unit for one in registry.earlier_in_unit(decoder)} == {decoder.unit}
    assert registry.earlier_in_unit(registry.exercises()[0]) == []
    assert registry.earlier_in_unit(replace(decoder, id="masks.absent")) == []
