"""The gated delta rule in chunks is the recurrence, with its gradients, and it does what it is for."""

import pytest
import torch

from tfkit.nn.delta_rule import gated_delta_rule, unit_length


def drawn(length, heads=3, d_key=5, d_value=4):
    """q, k, v, log_decay, beta and a state for two texts, in float64."""
    draw = torch.Generator().manual_seed(0)
    randn = lambda *shape: torch.randn(*shape, generator=draw, dtype=torch.float64)
    q, k = (unit_length(randn(2, length, heads, d_key)) for _ in "qk")
    log_decay, beta = -randn(2, length, heads).square(), randn(2, length, heads).sigmoid()
    return q, k, randn(2, length, heads, d_value), log_decay, beta, randn(2, heads, d_key, d_value)


def recurrence(q, k, v, log_decay, beta, state):
    """As the paper has it: S (decay - decay · beta · k kᵀ) + beta · v kᵀ, here transposed."""
    out = []
    for t in range(q.size(1)):
        key, share = k[:, t, ..., None], beta[:, t, :, None, None]
        kept = torch.eye(k.size(-1), dtype=k.dtype) - share * key * key.mT
        state = log_decay[:, t].exp()[..., None, None] * kept @ state + share * key * v[:, t, :, None]
        out.append((q[:, t, :, None] @ state).squeeze(-2))
    return torch.stack(out, 1), state


@pytest.mark.parametrize("chunk", [1, 3, 7, 64])
def test_chunks_are_the_recurrence(chunk):
    given = [x.requires_grad_() for x in drawn(7)]
    out, last = gated_delta_rule(*given, chunk)
    expected, state = recurrence(*given)
    torch.testing.assert_close(out, expected)
    torch.testing.assert_close(last, state)
    weight = torch.randn(out.shape, generator=torch.Generator().manual_seed(1), dtype=out.dtype)
    both = ((out, last), (expected, state))
    found, wanted = (torch.autograd.grad((o * weight).sum() + s.sum(), given) for o, s in both)
    for one, other in zip(found, wanted, strict=True):
        torch.testing.assert_close(one, other)


def test_steps_are_the_recurrence():
    *texts, state = drawn(5)
    expected, last = recurrence(*texts, state)
    for t in range(5):
        out, state = gated_delta_rule(*(x[:, t : t + 1] for x in texts), state)
        torch.testing.assert_close(out[:, 0], expected[:, t])
    torch.testing.assert_close(state, last)


def test_a_key_that_comes_again_gets_its_new_value():
    """With beta 1 and no decay the state holds the value that came last, where a sum would hold both."""
    key = unit_length(torch.ones(1, 2, 1, 4, dtype=torch.float64))
    values = torch.tensor([[[[1.0, 2.0]], [[5.0, -3.0]]]], dtype=torch.float64)
    zero, one = torch.zeros(1, 2, 1, dtype=torch.float64), torch.ones(1, 2, 1, dtype=torch.float64)
    out, _ = gated_delta_rule(key, key, values, zero, one, torch.zeros(1, 1, 4, 2, dtype=torch.float64))
    torch.testing.assert_close(out, values, atol=1e-5, rtol=0)


def test_long_texts_stay_finite_in_float32():
    """Decays whose product is far below the smallest number, which a quotient of products could not bear."""
    q, k, v, _, beta, state = (x.float() for x in drawn(200))
    log_decay = torch.full(beta.shape, -5.0)
    out, last = gated_delta_rule(q, k, v, log_decay, beta, state)
    assert out.isfinite().all() and last.isfinite().all()
