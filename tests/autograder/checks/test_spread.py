"""How far roundings move the reference is measured with objects that are built once, as with new ones."""

import pytest
import torch
from torch import nn

from autograder.checks.local import LocalSubject
from autograder.checks.probe import Case, Draw, questions
from autograder.checks.properties import _probes
from autograder.checks.properties._probes import CachingReference, caching_reference, spread
from autograder.checks.reference import reference_of
from autograder.exercises import registry
from autograder.sandbox.client import StudentError

STATE = {"weight": torch.tensor([[1.0, 2.0]]), "bias": torch.tensor([3.0])}
built = []


class Plain(nn.Linear):
    def __init__(self, width):
        super().__init__(width, 1)
        built.append(self)


class Remembering(Plain):
    """Its answer depends on how often it was called."""

    def forward(self, x):
        self.calls = getattr(self, "calls", 0) + 1
        return super().forward(x) * self.calls


class Appending(Plain):
    """Its answer depends on the length of a list that each call makes longer."""

    def __init__(self, width):
        super().__init__(width)
        self.calls = []

    def forward(self, x):
        self.calls.append(x)
        return super().forward(x) * len(self.calls)


class Counting(Plain):
    """Its answer depends on an entry of a dict that each call counts up."""

    def __init__(self, width):
        super().__init__(width)
        self.calls = {"forward": 0}

    def forward(self, x):
        self.calls["forward"] += 1
        return super().forward(x) * self.calls["forward"]


class WithBuffer(Plain):
    """Its answer depends on a buffer outside its state, which each call replaces."""

    def __init__(self, width):
        super().__init__(width)
        self.register_buffer("calls", torch.zeros(()), persistent=False)

    def forward(self, x):
        self.calls = self.calls + 1
        return super().forward(x) * self.calls


class InPlace(WithBuffer):
    """The same, where each call changes the buffer in place."""

    def forward(self, x):
        self.calls += 1
        return nn.Linear.forward(self, x) * self.calls


def measured(kind):
    built.clear()
    reference = LocalSubject({"Plain": kind})
    case = Case("Plain", (torch.tensor([[0.5, -0.25]]),), init=(2,), state=STATE)
    return spread(case, reference, lambda c, again, _: c.value(again))


def test_an_object_of_the_reference_is_built_once_for_each_dtype():
    assert measured(Plain) < 1e-6
    assert len(built) == 2


@pytest.mark.parametrize("kind", [Remembering, Appending, Counting, WithBuffer, InPlace])
def test_an_object_that_remembers_a_call_is_built_anew(kind):
    assert measured(kind) < 1e-6
    assert len(built) == 6


def test_another_state_other_arguments_and_other_dtypes_get_what_they_ask_for():
    again = CachingReference(LocalSubject({"Plain": Plain}))
    first = again.build_loaded("Plain", (2,), STATE)
    assert first is again.build_loaded("Plain", (2,), {name: 2 * value for name, value in STATE.items()})
    assert first(torch.ones(1, 2)).item() == 12
    assert again.build_loaded("Plain", (2,), STATE, torch.float64)(torch.ones(1, 2).double()).dtype == torch.float64
    assert again.build_loaded("Plain", (3,), {"weight": torch.ones(1, 3), "bias": torch.ones(1)}) is not first
    assert again.build_loaded("Plain", (2,), None) is not first


def test_a_state_of_other_shapes_is_refused_as_by_a_new_object():
    """Copying would broadcast it."""
    again = CachingReference(LocalSubject({"Plain": Plain}))
    again.build_loaded("Plain", (2,), STATE)
    with pytest.raises(StudentError, match="size mismatch"):
        again.build_loaded("Plain", (2,), STATE | {"weight": torch.ones(1, 1)})


def test_few_objects_are_kept_of_all_references_together(monkeypatch):
    monkeypatch.setattr(_probes, "MAX_BUILT", 2)
    monkeypatch.setattr(_probes, "_kept", _probes._Kept())
    references = [CachingReference(LocalSubject({"Plain": Plain})) for _ in range(2)]
    for width in (1, 2, 3):
        for again in references:
            again.build_loaded("Plain", (width,), {"weight": torch.ones(1, width), "bias": torch.ones(1)})
    assert [key[0] for key in _probes._kept.built] == [one._reference for one in references]


@pytest.mark.parametrize("id", ["attention.multi_head", "rnn.encode", "modern.experts", "reformer.reversible"])
def test_roundings_move_the_reference_as_far_as_with_new_objects(id, monkeypatch):
    exercise = registry.find(id)
    asked = questions(registry.check_function(exercise)(), reference_of(exercise), Draw(5).integer(0, 99))
    probes = [
        probe for _, pairs in asked for probe, _ in pairs if isinstance(probe.tolerance.spread, _probes.LazySpread)
    ]
    kept = [probe.tolerance.spread._measure() for probe in probes[::4]]
    assert type(caching_reference(reference_of(exercise))) is CachingReference
    monkeypatch.setattr(_probes, "caching_reference", lambda reference: reference)
    assert kept == [probe.tolerance.spread._measure() for probe in probes[::4]]
