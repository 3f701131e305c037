"""The exercises' references on pooling, disentangled scores and dynamic convolution, against loops over formulas."""

import math

import pytest
import torch

from tfkit.nn import disentangled_scores, pool_sequence, span_dynamic_conv

DTYPES = [torch.float64, torch.float32, torch.bfloat16]


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(0)


@pytest.mark.parametrize("length", [1, 4, 7])
def test_pairs_are_averaged_over_what_is_real(length):
    x = torch.randn(3, length, 5, dtype=torch.float64)
    mask = torch.rand(3, length) > 0.4
    mask[2] = False
    pooled, real = pool_sequence(x, mask)
    assert pooled.shape == (3, math.ceil(length / 2), 5)
    assert real.shape == pooled.shape[:2]
    for row in range(3):
        for pair in range(real.size(1)):
            found = [x[row, i] for i in (2 * pair, 2 * pair + 1) if i < length and mask[row, i]]
            expected = sum(found) / len(found) if found else torch.zeros(5, dtype=x.dtype)
            assert real[row, pair] == bool(found)
            torch.testing.assert_close(pooled[row, pair], expected)


def test_padding_gives_no_gradient_when_pooled():
    x, mask = torch.randn(1, 4, 2, requires_grad=True), torch.tensor([[True, False, False, False]])
    pool_sequence(x, mask)[0].sum().backward()
    assert x.grad.tolist() == [[[1, 1], [0, 0], [0, 0], [0, 0]]]


@pytest.mark.parametrize(("length", "k"), [(1, 2), (5, 2), (6, 9)])
def test_disentangled_scores_by_the_formula(length, k):
    qc, kc = (torch.randn(2, 3, length, 4, dtype=torch.float64) for _ in range(2))
    qr, kr = (torch.randn(3, 2 * k, 4, dtype=torch.float64) for _ in range(2))
    scores = disentangled_scores(qc, kc, qr, kr, k)
    assert scores.shape == (2, 3, length, length)

    def delta(i, j):
        return min(max(i - j + k, 0), 2 * k - 1)

    for h in range(3):
        for i in range(length):
            for j in range(length):
                q, key = qc[1, h, i], kc[1, h, j]
                expected = q @ key + q @ kr[h, delta(i, j)] + key @ qr[h, delta(j, i)]
                torch.testing.assert_close(scores[1, h, i, j], expected / math.sqrt(12))


@pytest.mark.parametrize("taps", [1, 3, 9])
def test_dynamic_convolution_by_the_formula(taps):
    value, logits = torch.randn(2, 5, 3, dtype=torch.float64), torch.randn(2, 5, taps, dtype=torch.float64)
    out = span_dynamic_conv(value, logits)
    for i in range(5):
        kernel = logits[1, i].softmax(-1)
        near = [(w, i + w - taps // 2) for w in range(taps)]
        expected = sum(kernel[w] * value[1, j] for w, j in near if 0 <= j < 5)
        torch.testing.assert_close(out[1, i], expected)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_they_keep_their_inputs_dtype_and_give_gradients(dtype):
    x, logits = (torch.randn(2, 5, width).to(dtype).requires_grad_() for width in (4, 3))
    qc, kc, qr, kr = (torch.randn(2, 3, 8, 4)[:, :, :n].to(dtype).requires_grad_() for n in (5, 5, 8, 8))
    pooled, _ = pool_sequence(x, torch.rand(2, 5) > 0.3)
    outs = [pooled, span_dynamic_conv(x, logits), disentangled_scores(qc, kc, qr[0], kr[0], 4)]
    sum(out.square().sum() for out in outs).backward()
    assert all(out.dtype == dtype for out in outs)
    assert all(t.grad.isfinite().all() for t in (x, logits, qc, kc, qr, kr))


def test_scores_and_logits_of_any_size():
    logits = torch.tensor([[[1e4, -1e4, 0.0]]])
    assert span_dynamic_conv(torch.ones(1, 1, 2), logits).tolist() == [[[0.0, 0.0]]]  # all weight past the start
    assert span_dynamic_conv(torch.ones(1, 1, 2), -logits).isfinite().all()
