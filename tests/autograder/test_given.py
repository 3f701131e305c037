"""The box may import what earlier units solved, and nothing else."""

import ast

import pytest

from autograder import given, registry

EXERCISES = registry.exercises()


@pytest.mark.parametrize("unit", sorted({exercise.unit for exercise in EXERCISES}))
def test_references_stand_alone(unit):
    """A whole unit's references, executed without the library."""
    source, names = given.source([exercise for exercise in EXERCISES if exercise.unit == unit])
    assert not [node for node in ast.walk(ast.parse(source)) if "tfkit" in str(getattr(node, "module", ""))]
    namespace: dict = {}
    exec(source, namespace)
    assert all(name in namespace for name in names)


def test_later_answers_are_not_given():
    exercise = registry.find("attention.multi_head")
    modules = given.modules(registry.given_references(exercise))
    everything = "\n".join(modules.values())
    assert "def scaled_dot_product_attention" in everything
    assert "MultiHeadAttention" not in everything and "split_heads" not in everything


def test_the_first_unit_is_given_nothing():
    assert given.modules(registry.given_references(registry.find("rnn.cell"))) == {}


def test_a_name_that_is_not_there():
    with pytest.raises(given.GivenError, match="defines no nothing"):
        given.modules(["tfkit.nn.masks:nothing"])
