"""The box may import what earlier units solved, and nothing else."""

import ast

import pytest

from autograder.exercises import injected_modules, registry

EXERCISES = registry.exercises()


@pytest.mark.parametrize("unit", sorted({exercise.unit for exercise in EXERCISES}))
def test_references_stand_alone(unit):
    """A whole unit's references, executed without the library."""
    source, names = injected_modules.source([exercise for exercise in EXERCISES if exercise.unit == unit])
    assert not [node for node in ast.walk(ast.parse(source)) if "tfkit" in str(getattr(node, "module", ""))]
    namespace: dict = {}
    exec(source, namespace)
    assert all(name in namespace for name in names)


def test_later_answers_are_not_given():
    exercise = registry.find("attention.multi_head")
    modules = injected_modules.modules(registry.injected_references(exercise))
    everything = "\n".join(modules.values())
    assert "def scaled_dot_product_attention" in everything
    assert "MultiHeadAttention" not in everything and "split_heads" not in everything


def test_references_outside_the_layers_are_found_where_the_library_has_them():
    modules = injected_modules.modules(registry.injected_references(registry.find("decoding.greedy")))
    for module in ("tfkit.text.bpe", "tfkit.text", "tfkit.train.schedules", "tfkit.objectives.label_smoothing"):
        assert "from tfkit.given import" in modules[module]
    assert "learn_bpe" in modules["tfkit.text"] and "noam_rate" in modules["tfkit.train"]
    namespace: dict = {}
    exec(modules["tfkit.given"], namespace)
    assert namespace["apply_bpe"]("aaa", namespace["learn_bpe"]({"aaa": 1}, 1)) == ["aa", "a", "</w>"]


def test_the_first_unit_is_given_nothing():
    assert injected_modules.modules(registry.injected_references(registry.find("rnn.cell"))) == {}


def test_a_name_that_is_not_there():
    with pytest.raises(injected_modules.InjectionError, match="defines no nothing"):
        injected_modules.modules(["tfkit.nn.masks:nothing"])


def test_a_parameter_is_not_taken_for_the_functions_neighbour():
    """`mask_tokens` has a parameter that is called as a function of its module's imports is."""
    source, _ = injected_modules.source([registry.find("objectives.mlm")])
    names = [node.name for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)]
    assert names == ["mask_tokens"]
