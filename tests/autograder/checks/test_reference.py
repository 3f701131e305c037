"""The arguments of a question are called as the reference calls them."""

from __future__ import annotations

from autograder.checks.device import DeviceSubject
from autograder.checks.local import LocalSubject
from autograder.checks.probe import Case
from autograder.checks.reference import parameters_of

SOURCE = """
def join(first, *others, by=None):
    return first
class Layer:
    def __init__(self, width):
        self.width = width
    def forward(self, x, mask=None):
        return x
    def inverse(self, y):
        return y
"""


def test_each_argument_has_the_name_that_the_signature_gives_it():
    reference = LocalSubject.from_source(SOURCE)
    assert parameters_of(Case("join", (1, 2, 3)), reference) == ["first", "others[0]", "others[1]", "by"]
    assert parameters_of(Case("join", (1,)), reference) == ["first", "by"]
    assert parameters_of(Case("Layer", (1,), init=(4,)), reference) == ["x", "mask"]
    assert parameters_of(Case("Layer", (1,), init=(4,), method="inverse"), reference) == ["y"]


def test_the_names_are_the_same_on_a_device():
    reference = DeviceSubject(LocalSubject.from_source(SOURCE), "cpu")
    assert parameters_of(Case("join", (1, 2)), reference) == ["first", "others[0]", "by"]
