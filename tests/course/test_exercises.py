"""The exercises of the contract are there, in order, and their references exist."""

import pytest
import torch

from autograder.checks.probe import Draw
from autograder.checks.reference import reference_of
from autograder.exercises import registry
from autograder.grade.run import grade_source
from autograder.sandbox import choose


def test_every_exercise_has_a_reference_and_checks():
    for exercise in registry.exercises():
        assert all(reference_of(exercise).kind(symbol) for symbol in exercise.symbols), exercise.id
        assert len(registry.check_function(exercise)()) >= 2, exercise.id


def test_units_in_order():
    units = [exercise.unit for exercise in registry.exercises()]
    assert units == sorted(units) and len(units) >= 20


PATCHES = """
import copy
def run_patched(module, child, value, *args):
    {}
    try:
        return module(*args)
    finally:
        for handle in handles:
            handle.remove()
"""
OF_A_COPY = """module = copy.deepcopy(module)
    handles = [module.get_submodule(child).register_forward_hook(lambda *_: value)]"""
BY_LAST_NAME = """parts = [one for name, one in module.named_modules() if name.split('.')[-1] == child.split('.')[-1]]
    for one in parts:
        one.forward = lambda *_: value
    class Handle:
        def remove(self):
            for one in parts:
                one.__dict__.pop('forward', None)
    handles = [Handle()]"""


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (OF_A_COPY, "the module that was passed in did not run, only a copy of it"),
        (BY_LAST_NAME, "parts of the module that were not asked for did not run"),
    ],
    ids=["a copy", "others with the same last name"],
)
def test_only_an_answer_that_copies_is_told_of_a_copy(body, message):
    verdict = grade_source(registry.find("inside.patch"), PATCHES.format(body), backend=choose())
    assert {check.name: check.message for check in verdict.checks}["nothing is left behind"] == message


def test_a_patch_is_asked_for_on_the_module_itself_under_the_whole_name_of_its_part():
    """What the two answers above lose points for, the statement has to say."""
    statement = " ".join(reference_of(registry.find("inside.patch")).namespace["run_patched"].__doc__.split())
    assert "The module itself runs" in statement and "not a copy" in statement
    assert "the submodule's whole name" in statement and "no other submodule is patched" in statement


@pytest.mark.parametrize("seed", range(3))
def test_a_source_and_a_target_of_one_shape_are_padded_in_other_places(seed):
    """So that a decoder is asked whose padding it hides in the memory where no shape tells."""
    exercise = registry.find("transformer.seq2seq")
    reference, (check, *_) = reference_of(exercise), registry.check_function(exercise)()
    whole = [probe.case for probe in check.probes(Draw(seed, reference=reference), reference) if not probe.case.method]
    padded = [[ids == case.init[-1] for ids in case.args] for case in whole]
    alike = [(source, target) for source, target in padded if source.shape == target.shape]
    assert any(not torch.equal(source, target) for source, target in alike)
