"""Partial evaluation puts in what a run settles, and keeps what another call may need."""

from __future__ import annotations

import torch

from tfkit.tools.specialise import specialise, tidy_sections

SMALL = '''
from torch import nn


def scaled(x, factor=1.0, shift=None, name="x"):
    """x [B]. Raises ValueError for a name."""
    if name == "y":
        raise ValueError(name)
    x = x * factor
    return x if shift is None else x + shift


class Base(nn.Module):
    def __init__(self, c, causal=False):
        super().__init__()
        self.causal, self.width = causal, c.width


class Model(Base):
    def __init__(self, config):
        super().__init__(config)

    def other(self, x):
        return x

    def forward(self, x, cache=None):
        if cache is not None:
            x = self.other(x)
        if len(x) > 3:
            x = x[:3]
        return scaled(x, self.width) if not self.causal else x


class Config:
    width = 2


MODEL = Model
'''


def test_what_is_settled_is_put_in_and_what_is_not_stays():
    use = lambda flat: flat.MODEL(flat.Config())(torch.ones(2))
    text = specialise(SMALL, use)
    for gone in ("cache", "causal", "other", "shift", "ValueError", "Base", "name"):
        assert gone not in text, gone
    assert "if len(x) > 3:" in text  # which this call did not do, and another one may
    assert "self.width" in text  # a number: the file is for all sizes
    flat = {}
    exec(text, flat)
    assert flat["MODEL"](flat["Config"]())(torch.arange(5.0)).tolist() == [0, 2, 4]


REMEMBERS = """
class Config:
    width = 2


class Memory:
    def __init__(self, found):
        self.found = found


class Model:
    def __init__(self, config):
        self.config = config

    def twice(self, x, memory):
        if self in memory.found:
            return memory.found[self]
        doubled = x * 2
        memory.found[self] = doubled
        return doubled

    def __call__(self, x):
        memory = Memory({})
        return self.twice(x, memory) + self.twice(x, memory)


MODEL = Model
"""


def test_what_was_empty_when_it_was_written_to_is_not_taken_for_empty():
    text = specialise(REMEMBERS, lambda flat: flat.MODEL(flat.Config())(torch.ones(2)))
    assert "{}[" not in text and "[self] = " in text, text


def test_headings_of_sections_without_code_are_removed_at_the_end_too():
    assert tidy_sections("# --- a\n\n\n# --- b\n\n\nx = 1\n\n\n# --- c\n\n\n") == "# --- b\n\n\nx = 1\n"
