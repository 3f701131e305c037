"""Truncated sampling keeps exactly the tokens that it should."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers.generation import logits_process as theirs

from tfkit.decode import Sample, top_k_filter, top_p_filter


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), size=st.integers(1, 30), data=st.data())
def test_top_k_keeps_the_k_largest_unchanged(seed, size, data):
    k = data.draw(st.integers(1, size))
    logits = torch.randperm(3 * size, generator=torch.Generator().manual_seed(seed)).view(3, size).float()
    kept = top_k_filter(logits, k)
    for row, out in zip(logits, kept, strict=True):
        largest = set(row.sort(descending=True).values[:k].tolist())
        assert set(out[out > float("-inf")].tolist()) == largest
        assert torch.equal(out[out > float("-inf")], row[out > float("-inf")])


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), size=st.integers(1, 30), p=st.floats(0.02, 0.98))
def test_top_p_keeps_the_smallest_set_that_reaches_p(seed, size, p):
    logits = torch.randn(2, 3, size, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    kept = top_p_filter(logits, p) > float("-inf")
    probs = torch.softmax(logits, -1)
    mass = (probs * kept).sum(-1)
    without_last = mass - torch.where(kept, probs, 2.0).min(-1).values
    assert (mass >= p - 1e-6).all(), "the kept words do not reach p"
    assert (without_last < p + 1e-6).all(), "a smaller set would have done"
    assert (torch.where(kept, probs, 2.0).min(-1).values >= torch.where(kept, -1.0, probs).max(-1).values).all()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_dtype_stays_and_gradients_reach_what_is_kept(dtype):
    logits = torch.tensor([[3.0, 1.0, 2.0, -9.0]], dtype=dtype, requires_grad=True)
    for out in (top_k_filter(logits, 2), top_p_filter(logits, 0.8)):
        assert out.dtype == dtype
        (grad,) = torch.autograd.grad(out[out > float("-inf")].sum(), logits)
        assert grad.tolist() == [[1, 0, 1, 0]]


WARPERS = {  # our setting -> transformers' class
    "min_p": theirs.MinPLogitsWarper,
    "typical_p": theirs.TypicalLogitsWarper,
    "epsilon_cutoff": theirs.EpsilonLogitsWarper,
    "eta_cutoff": theirs.EtaLogitsWarper,
}


@pytest.mark.parametrize("name", WARPERS)
@pytest.mark.parametrize("share", [0.003, 0.05, 0.3, 0.9])
def test_other_cuts_keep_what_those_of_transformers_keep(name, share):
    logits = 3 * torch.randn(40, 23, generator=torch.Generator().manual_seed(0))
    logits[::3, 4:9] = -torch.inf  # what an earlier cut has removed
    logits[5] = 0.0
    ((_, found),) = Sample(**{name: share}).stages(logits)
    expected = WARPERS[name](share)(None, logits)
    assert torch.equal(found, expected)
    if share > 0.01:
        assert (found == -torch.inf).sum() > (logits == -torch.inf).sum(), "nothing was cut"
