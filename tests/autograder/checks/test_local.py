"""A subject in the grader's process answers as one in a box does."""

from __future__ import annotations

import pytest
import torch

from autograder.checks.local import LocalSubject
from autograder.checks.probe import Case, Part
from autograder.sandbox import choose
from autograder.sandbox.client import Cell, SandboxClient

SOURCE = """
import torch

def total(x, rest=(), *, named=None, w=None):
    return x + sum(rest) + named["b"] * 2 + named["a"] * 3 + w * 4

class Total(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.ones(2))

    def forward(self, x, rest=(), *, named=None, w=None):
        return self.scale * total(x, rest, named=named, w=w)
"""


@pytest.fixture(scope="module")
def boxed():
    with SandboxClient(choose()) as client:
        assert client.run_cells([Cell("cell", SOURCE)])[0].error is None
        yield client


@pytest.fixture
def local():
    namespace = {}
    exec(SOURCE, namespace)
    return LocalSubject(namespace)


@pytest.mark.parametrize("init", [None, ()])
def test_gradients_of_tensors_in_lists_and_keywords(boxed, local, init):
    t, whole = torch.ones(2), torch.ones(2, dtype=torch.int64)
    case = Case("total" if init is None else "Total", (t, [2 * t, whole]), init=init,
                kwargs={"w": t, "named": {"b": t, "a": t}}, state=None if init is None else {"scale": t})  # fmt: skip
    answers = [case.gradients(subject, [t]) for subject in (boxed, local)]
    for answer in answers:  # positional ones first, then keywords, all by name
        assert [grad[0].item() for grad in answer["gradient of input"]] == [1, 1, 3, 2, 4]
    assert answers[0].keys() == answers[1].keys() and not t.requires_grad


def test_a_part_that_is_an_argument_of_another_is_the_same_object(boxed, local):
    given = """
class Layer:
    def __init__(self):
        self.steps = 0


def given_layer():
    return Layer()


def given_optimizer(layer):
    def step():
        layer.steps += 1

    return step


def steps_after(layer, step):
    step()
    return layer.steps
"""
    layer = Part(given, "given_layer")
    case = Case("steps_after", (layer, Part(given, "given_optimizer", (layer,))))
    for subject in (boxed, local):
        subject.bind(given, ["steps_after"])
        assert [case.value(subject) for _ in range(2)] == [1, 1]  # and a new one in each call
