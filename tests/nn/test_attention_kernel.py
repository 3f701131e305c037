"""The fused kernel and the attention by hand give the same results."""

import sys

import pytest
import torch

from tfkit.nn import attend, attend_by_hand

TOLERANCE = {torch.float64: 1e-12, torch.float32: 2e-5, torch.bfloat16: 3e-2}


def draw(dtype, q_len=5, k_len=7, seed=0):
    generator = torch.Generator().manual_seed(seed)
    shapes = [(2, 3, q_len, 8), (2, 3, k_len, 8), (2, 3, k_len, 6)]
    return [torch.randn(s, generator=generator).to(dtype).requires_grad_() for s in shapes]


def settings(q_len, k_len, dtype):
    mask = torch.rand(2, 1, q_len, k_len, generator=torch.Generator().manual_seed(1)) > 0.4
    mask[0, 0, q_len - 1] = False  # a query that may look nowhere
    bias = torch.randn(1, 3, q_len, k_len, generator=torch.Generator().manual_seed(2)).to(dtype)
    return {
        "plain": {},
        "mask": {"mask": mask},
        "bias": {"bias": bias},
        "causal": {"causal": True},
        "all": {"mask": mask, "bias": bias, "causal": True, "scale": 0.3},
    }


@pytest.mark.parametrize("dtype", list(TOLERANCE), ids=str)
@pytest.mark.parametrize(("q_len", "k_len"), [(5, 5), (5, 7), (1, 4), (1, 1)])
@pytest.mark.parametrize("what", ["plain", "mask", "bias", "causal", "all"])
def test_fused_is_by_hand(dtype, q_len, k_len, what):
    how = settings(q_len, k_len, dtype)[what]
    inputs, again = draw(dtype, q_len, k_len), draw(dtype, q_len, k_len)
    fused, (by_hand, weights, _) = attend(*inputs, **how), attend_by_hand(*again, **how)
    pull = torch.randn(fused.shape, generator=torch.Generator().manual_seed(3)).to(dtype)
    grads, grads_by_hand = torch.autograd.grad(fused, inputs, pull), torch.autograd.grad(by_hand, again, pull)
    for one, other in zip([fused, *grads], [by_hand, *grads_by_hand], strict=True):
        assert one.dtype == dtype
        assert one.isfinite().all()
        torch.testing.assert_close(
            one, other, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype] * max(1.0, other.abs().max().item())
        )
    if "mask" in how:
        assert (fused[0, :, -1] == 0).all()
        assert (weights[0, :, -1] == 0).all()


def test_a_bias_may_bar_all_keys_of_a_row():
    """As for XLNet's first query in the order: zeros and no NaN, by hand and fused."""
    inputs = draw(torch.float64)
    bias = torch.zeros(5, 7, dtype=torch.float64)
    bias[0] = bias[1, 2] = -torch.inf
    fused, (by_hand, weights, _) = attend(*inputs, bias=bias), attend_by_hand(*inputs, bias=bias)
    torch.testing.assert_close(fused, by_hand, rtol=1e-12, atol=1e-12)
    assert (weights[:, :, 0] == 0).all() and (by_hand[:, :, 0] == 0).all()
    assert all(grad.isfinite().all() for grad in torch.autograd.grad(by_hand.sum(), inputs))


@pytest.mark.parametrize("what", ["plain", "mask", "bias", "causal", "all"])
def test_in_steps_is_by_hand(what, monkeypatch):
    """The path of training with dropout, here dropping nothing: values, gradients, rows that see nothing."""
    how = settings(5, 7, torch.float64)[what]
    inputs, again = draw(torch.float64), draw(torch.float64)
    asked = []
    keep_all = lambda shape, p: asked.append(p) or torch.ones(shape, dtype=torch.bool)
    monkeypatch.setattr(sys.modules["tfkit.nn.dropout"], "keep_mask", keep_all)
    stepwise, by_hand = attend(*inputs, **how, dropout=1e-30), attend_by_hand(*again, **how)[0]
    assert asked == [1e-30]
    pull = torch.randn(by_hand.shape, generator=torch.Generator().manual_seed(3)).double()
    grads, grads_by_hand = torch.autograd.grad(stepwise, inputs, pull), torch.autograd.grad(by_hand, again, pull)
    for one, other in zip([stepwise, *grads], [by_hand, *grads_by_hand], strict=True):
        torch.testing.assert_close(one, other, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("kernel", [attend, lambda *a, **k: attend_by_hand(*a, **k)[0]], ids=["fused", "by hand"])
def test_dropout_drops_weights(kernel):
    """With the identity as values, the output is the weights: each is dropped, or scaled up by 1 / (1 - p)."""
    torch.manual_seed(0)
    q, k = torch.randn(4, 2, 64, 8), torch.randn(4, 2, 64, 8)
    v = torch.eye(64).expand(4, 2, 64, 64)
    whole, dropped = kernel(q, k, v), kernel(q, k, v, dropout=0.25)
    kept = dropped != 0
    torch.testing.assert_close(dropped[kept], whole[kept] / 0.75)
    assert abs(kept.float().mean() - 0.75) < 0.02


def test_the_bias_learns():
    q, k, v = draw(torch.float64)
    biases = [torch.zeros(1, 3, 5, 7, dtype=torch.float64, requires_grad=True) for _ in range(2)]
    mask = torch.ones(2, 1, 5, 7, dtype=torch.bool)
    mask[0, 0, 2] = False
    attend(q, k, v, bias=biases[0], mask=mask).sum().backward()
    attend_by_hand(q, k, v, bias=biases[1], mask=mask)[0].sum().backward()
    torch.testing.assert_close(biases[0].grad, biases[1].grad)
    assert biases[0].grad.isfinite().all()
    assert biases[0].grad.abs().sum() > 0


def test_a_mask_is_boolean():
    with pytest.raises(TypeError, match="mask has dtype torch.float32"):
        attend(*draw(torch.float32), mask=torch.ones(5, 7))


@pytest.mark.parametrize("sign", [-1, 1])
def test_huge_scores_stay_finite(sign):
    q, k, v = torch.full((1, 1, 1, 1), 100.0), sign * torch.full((1, 1, 3, 1), 100.0), torch.randn(1, 1, 3, 4)
    k[0, 0, 1] *= 0.999
    expected = v[0, 0, 1] if sign < 0 else v[0, 0, [0, 2]].mean(0)
    for out in (attend(q, k, v), attend_by_hand(q, k, v)[0]):
        torch.testing.assert_close(out[0, 0, 0], expected, atol=1e-3, rtol=1e-3)


@pytest.mark.parametrize("how", [{}, {"causal": True}, {"softcap": 3.0}, {"dropout": 1.0}, {"sinks": torch.ones(6)}])
@pytest.mark.parametrize("masked", [False, True])
def test_grouped_queries_read_their_head_of_keys(how, masked):
    """Fewer heads of keys and values give what a copy for each head of queries gives, and the same gradients."""
    draw = torch.Generator().manual_seed(0)
    q, k, v = (torch.randn(2, heads, 5, 8, generator=draw, dtype=torch.float64) for heads in (6, 2, 2))
    mask = torch.rand(2, 1, 5, 5, generator=draw) > 0.3 if masked else None
    found, wanted = [], []
    for results, times in ((found, 1), (wanted, 3)):
        given = [x.clone().requires_grad_() for x in (q, k, v)]
        shared = [x.repeat_interleave(times, 1) for x in given[1:]]
        results.append(attend(given[0], *shared, mask=mask, **how))
        results += torch.autograd.grad(results[0].square().sum(), given)
    torch.testing.assert_close(found, wanted)


def test_keys_of_grouped_queries_are_not_copied(monkeypatch):
    monkeypatch.setattr(torch.Tensor, "repeat_interleave", lambda *_, **__: pytest.fail("a copy for each query"))
    q, k = torch.randn(1, 4, 3, 8), torch.randn(1, 2, 3, 8)
    assert attend(q, k, k, causal=True).shape == q.shape
    assert attend(q, k, k, mask=torch.ones(1, 1, 1, 3, dtype=torch.bool)).shape == q.shape
