"""The flat form with one head: it computes what the model computes, and holds no other head."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest
import torch

from tests.models.table import ROWS, kind
from tests.models.test_laws import lesson, make
from tfkit.tools.flatten import flatten

HEADS = [
    ("bert", "masked_lm"),
    ("gpt2", "causal_lm"),
    ("t5", "seq2seq_lm"),
    ("xlnet", "masked_lm"),
    ("reformer", "causal_lm"),
]


@pytest.mark.parametrize(("name", "head"), HEADS)
def test_one_head_gives_the_models_numbers_and_gradients(name, head, monkeypatch):
    flat = ModuleType("flat")
    monkeypatch.setitem(sys.modules, "flat", flat)
    exec(compile(flatten(kind(name), head), "flat", "exec"), vars(flat))
    row, model = make(name, head)
    other = flat.MODEL(flat.Config(**ROWS[name].fields), head).double().eval()
    other.load_state_dict(model.state_dict())
    given = lesson(row, model)
    expected, found = model(**given), other(**given)
    torch.testing.assert_close(found.logits, expected.logits, rtol=1e-12, atol=1e-12)
    pairs = ((expected.loss, model), (found.loss, other))
    grads = [torch.autograd.grad(loss, each.parameters(), allow_unused=True) for loss, each in pairs]
    for one, two in zip(*grads, strict=True):
        assert (one is None) == (two is None)
        if one is not None and two is not None:
            torch.testing.assert_close(two, one, rtol=1e-9, atol=1e-12)


def test_the_other_heads_are_left_out():
    all_heads, one = flatten("bert"), flatten("bert", "masked_lm")
    assert "class QuestionAnswering" in all_heads and "class QuestionAnswering" not in one
    assert "class MaskedLM" in one
    assert len(one.splitlines()) < 0.8 * len(all_heads.splitlines())
