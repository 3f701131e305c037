"""Tracing records everything, changes no result, and is removed afterwards."""

import pytest
import torch

from tfkit.nn import Attention
from tfkit.tracing import recorder, trace


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList(Attention(12, 3, causal=True, dropout=0.2) for _ in range(2))

    def forward(self, x, fail=False):
        for layer in self.layers:
            x = layer(x)
        if fail:
            raise ValueError("on purpose")
        return x


def test_shows_the_weights_that_were_used():
    model, x = Model().eval(), torch.randn(2, 4, 12)
    with trace(model) as t:
        out = model(x)
    weights = t["layers.0.weights"]
    assert weights.shape == (2, 3, 4, 4)
    torch.testing.assert_close(weights.sum(-1), torch.ones(2, 3, 4))
    assert (weights.triu(1) == 0).all()
    assert torch.equal(t["out"], out)
    assert "layers.1.q_proj.out" in t


def test_changes_no_bit_and_leaves_nothing():
    model, x = Model().train(), torch.randn(2, 4, 12)
    torch.manual_seed(5)
    plain = model(x)
    torch.manual_seed(5)
    with trace(model, ["*.weights"]) as t:
        traced = model(x)
    assert torch.equal(plain, traced)
    assert sorted(t) == ["layers.0.weights", "layers.1.weights"]
    assert recorder() is None
    assert not any(m._forward_hooks or m._forward_pre_hooks for m in model.modules())


def test_survives_a_model_that_raises():
    model, x = Model(), torch.randn(1, 2, 12)
    with trace(model) as t:
        with pytest.raises(ValueError, match="on purpose"):
            model(x, fail=True)
        model(x)
    assert len(t.all("layers.0.weights")) == 2
    assert len(t.all("out")) == 1


def test_names_what_there_is():
    model = Model()
    with trace(model) as t:
        model(torch.randn(1, 2, 12))
        with pytest.raises(RuntimeError, match="already active"), trace(model):
            pass
    with pytest.raises(KeyError, match="layers.0.weights"):
        t["layers.7.weights"]
