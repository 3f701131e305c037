"""The exercises of the contract are there, in order, and their references exist."""

from autograder import registry
from autograder.checks.reference import reference_of


def test_every_exercise_has_a_reference_and_checks():
    for exercise in registry.exercises():
        assert all(reference_of(exercise).kind(symbol) for symbol in exercise.symbols), exercise.id
        assert len(registry.check_function(exercise)()) >= 2, exercise.id


def test_units_in_order():
    units = [exercise.unit for exercise in registry.exercises()]
    assert units == sorted(units) and len(units) >= 20
