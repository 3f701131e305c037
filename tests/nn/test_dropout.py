"""Dropout from bulk bits: its rate, its independence, its gradient, and that a seed repeats it."""

import math
import sys

import pytest
import torch

from tfkit.nn import Dropout
from tfkit.nn.dropout import ScaleKept, dropout, keep_mask


@pytest.mark.parametrize("p", [0.0, 0.05, 0.1, 0.5, 0.9])
def test_the_rate(p):
    torch.manual_seed(0)
    n = 1_000_001  # odd: half of the last pair is thrown away
    kept = keep_mask((n,), p)
    assert abs(int(kept.sum()) - n * (1 - p)) <= 5 * math.sqrt(n * p * (1 - p)) + n / 65536


def test_neighbours_are_independent():
    """Two elements come from one integer: what becomes of one says nothing of the other."""
    torch.manual_seed(0)
    kept = keep_mask((500_000, 2), 0.5)
    both = (kept[:, 0] & kept[:, 1]).float().mean()
    assert abs(both - 0.25) < 5 * math.sqrt(0.25 * 0.75 / 500_000)


def test_what_is_kept_is_scaled_and_so_is_its_gradient():
    torch.manual_seed(0)
    x = torch.randn(64, 65, requires_grad=True)
    y = dropout(x, 0.25)
    kept = y != 0
    torch.testing.assert_close(y[kept], x[kept] / 0.75)
    y.sum().backward()
    torch.testing.assert_close(x.grad, kept / 0.75)
    assert 0.2 < 1 - kept.float().mean() < 0.3


def test_its_gradients_are_those_of_finite_differences():
    keep, x = keep_mask((3, 5), 0.5), torch.randn(3, 5, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda x: ScaleKept.apply(x, keep, 2.0) ** 2, x)
    assert torch.autograd.gradgradcheck(lambda x: ScaleKept.apply(x, keep, 2.0) ** 3, x)


@pytest.mark.parametrize("turned", [False, True])
def test_blocks_are_seamless(turned, monkeypatch):
    """Several blocks, the last of them shorter, and a tensor whose elements don't lie in order."""
    monkeypatch.setattr(sys.modules["tfkit.nn.dropout"], "BLOCK", 16)
    x = torch.randn(9, 7).T if turned else torch.randn(9, 7)
    keep = keep_mask(x.shape, 0.5)
    torch.testing.assert_close(ScaleKept.apply(x, keep, 2.0), torch.where(keep, 2 * x, 0.0), rtol=0, atol=0)


def test_a_seed_repeats_it_and_evaluation_leaves_it_out():
    layer, x = Dropout(0.3), torch.randn(5, 7)
    torch.manual_seed(3)
    once = layer(x)
    torch.manual_seed(3)
    assert torch.equal(layer(x), once) and not torch.equal(layer(x), once)
    assert layer.eval()(x) is x and dropout(x, 0.0) is x
    assert not dropout(x, 1.0).any()


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
def test_the_type_stays(dtype):
    assert dropout(torch.ones(3, 5, dtype=dtype), 0.5).dtype == dtype
