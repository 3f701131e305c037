"""Unit 14's references, against torch's own attention, its autograd and its losses."""

import pytest
import torch
import torch.nn.functional as F

from tfkit.nn.fast import (
    chunked_cross_entropy,
    dequantize_rows,
    flash_attention,
    flash_backward,
    merge_attention,
    paged_attention,
    quantize_rows,
)


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(0)


def drawn(queries, keys, width=4):
    return [torch.randn(2, 3, n, width, dtype=torch.float64, requires_grad=True) for n in (queries, keys, keys)]


@pytest.mark.parametrize("block", [1, 3, 20])
@pytest.mark.parametrize(("queries", "keys", "causal"), [(5, 7, True), (6, 6, True), (4, 9, False)])
def test_blocks_give_torchs_attention_and_its_gradients(queries, keys, causal, block):
    q, k, v = drawn(queries, keys)
    mask = torch.ones(queries, keys, dtype=torch.bool).tril(keys - queries) if causal else None
    expected = F.scaled_dot_product_attention(q, k, v, mask)
    output, lse = flash_attention(q, k, v, block, causal)
    torch.testing.assert_close(output, expected)
    d_o = torch.randn_like(output)
    wanted = torch.autograd.grad(expected, (q, k, v), d_o)
    torch.testing.assert_close(torch.autograd.grad(output, (q, k, v), d_o, retain_graph=True), wanted)
    with torch.inference_mode():
        torch.testing.assert_close(flash_backward(q, k, v, output, lse, d_o, block, causal), wanted)


def test_the_sums_gradient_are_the_weights_times_the_keys():
    q, k, v = drawn(3, 5)
    lse = flash_attention(q, k, v, 2)[1]
    scores = q @ k.transpose(-2, -1) / 2
    torch.testing.assert_close(lse, scores.logsumexp(-1))
    (found,) = torch.autograd.grad(lse.sum(), q)
    torch.testing.assert_close(found, scores.softmax(-1) @ k / 2)


def test_parts_merge_to_the_whole_in_any_order_and_without_keys():
    q, k, v = drawn(4, 8)
    whole = flash_attention(q, k, v, 8)
    first, second = (flash_attention(q, k[..., part, :], v[..., part, :], 8) for part in (slice(0, 3), slice(3, 8)))
    torch.testing.assert_close(merge_attention(*first, *second), whole)
    torch.testing.assert_close(merge_attention(*second, *first), whole)
    none = torch.zeros_like(whole[0]), torch.full_like(whole[1], float("-inf"))
    torch.testing.assert_close(merge_attention(*whole, *none), whole)
    torch.testing.assert_close(merge_attention(*none, *none), none)


@pytest.mark.parametrize("chunk", [1, 4, 50])
def test_chunks_give_torchs_loss(chunk):
    h, w = torch.randn(9, 3).double().requires_grad_(), torch.randn(7, 3).double().requires_grad_()
    targets = torch.randint(0, 7, (9,))
    targets[:4] = -100  # a whole chunk
    found, expected = chunked_cross_entropy(h, w, targets, chunk), F.cross_entropy(h @ w.T, targets)
    torch.testing.assert_close(found, expected)
    torch.testing.assert_close(torch.autograd.grad(found, (h, w)), torch.autograd.grad(expected, (h, w)))
    assert chunked_cross_entropy(h, w, torch.full((9,), -100), chunk) == 0


def test_pages_give_attention_over_each_text_alone():
    keys, values = torch.randn(6, 4, 2, 3).double(), torch.randn(6, 4, 2, 3).double()
    q, tables, lengths = torch.randn(3, 2, 3).double(), torch.tensor([[4, 0], [2, -1], [5, 1]]), torch.tensor([6, 3, 0])
    found = paged_attention(q, keys, values, tables, lengths)
    for text in range(2):
        own = tables[text, : -(-int(lengths[text]) // 4)]
        k, v = (store[own].flatten(0, 1)[: lengths[text]].transpose(0, 1) for store in (keys, values))
        expected = F.scaled_dot_product_attention(q[text].unsqueeze(1), k, v).squeeze(1)
        torch.testing.assert_close(found[text], expected)
    assert not found[2].any()


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("bits", [2, 5, 8])
def test_no_weight_is_farther_off_than_half_a_step(bits, dtype):
    w = torch.randn(5, 300).to(dtype) * torch.tensor([[1e-3], [0.0], [1.0], [1.34375], [40.0]], dtype=dtype)
    w[2, 0] = -9.0
    q, scale = quantize_rows(w, bits)
    assert q.dtype == torch.int8
    assert scale.dtype == dtype
    assert q.abs().max() == 2 ** (bits - 1) - 1
    assert scale[1] == 1
    slack = 0.5 + (0.01 if dtype == torch.float32 else 0.6)
    assert ((dequantize_rows(q, scale) - w).abs() <= slack * scale.unsqueeze(-1)).all()
