"""The exercises on a memory and on relative scores: against Transformer-XL's own attention, and against loops."""

import math

import pytest
import torch

import tfkit
from tfkit.nn import memory_attention, relative_scores, segment_attention, split_heads
from tfkit.nn.relative_attention import (
    DistanceContext,
    RelativeAttention,
    causal_relative_bias,
    sinusoidal_distances,
    two_stream_attention,
)
from tfkit.objectives.permutation_lm import permutation_masks

WIDTH, HEADS = 12, 3


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(0)


def numbers(*shape):
    return torch.randn(*shape, dtype=torch.float64, requires_grad=True)


@pytest.fixture
def published():
    """-> the model's attention with random biases"""
    attn = RelativeAttention(WIDTH, HEADS).double()
    torch.nn.init.normal_(attn.content_bias), torch.nn.init.normal_(attn.position_bias)
    return attn


def read(attn, source, new):
    """attn's own call on the last `new` positions -> its output, and the weights that a trace shows"""
    keys = source.size(1)
    waves = sinusoidal_distances(torch.arange(keys - 1, -2, -1), WIDTH, source)
    with tfkit.trace(attn) as t:
        barred = causal_relative_bias(new, keys, keys, source).repeat(len(source), 1)[None]
        out = attn(source, new, DistanceContext(waves, barred))
    return out, t["weights"], waves[:-1]


@pytest.mark.parametrize(("new", "past"), [(1, 0), (4, 0), (1, 3), (5, 3), (2, 7)])
def test_memory_attention_is_the_models_where_distances_do_not_count(published, new, past):
    for parameter in (published.content_bias, published.position_bias, published.r_proj.weight):
        torch.nn.init.zeros_(parameter)
    torch.nn.init.eye_(published.o_proj.weight)
    x, memory = numbers(2, new, WIDTH), numbers(2, past, WIDTH)
    matrices = [getattr(published, f"{letter}_proj").weight for letter in "qkv"]
    expected = read(published, torch.cat([memory.detach(), x], 1), new)[0]
    out = memory_attention(x, memory, *(matrix.T for matrix in matrices), HEADS)
    torch.testing.assert_close(out, expected)
    grads = [torch.autograd.grad(y.square().sum(), [x, *matrices], retain_graph=True) for y in (out, expected)]
    torch.testing.assert_close(*grads)  # the matrices learn from the memory as the model's do
    out.sum().backward()
    assert memory.grad is None


@pytest.mark.parametrize(("new", "keys"), [(1, 1), (4, 4), (1, 5), (3, 7)])
def test_relative_scores_are_the_models_weights(published, new, keys):
    source = numbers(2, keys, WIDTH)
    _, weights, waves = read(published, source, new)
    q, k = split_heads(published.q_proj(source[:, -new:]), HEADS), split_heads(published.k_proj(source), HEADS)
    r = published.r_proj(waves).view(keys, HEADS, -1).transpose(0, 1)  # [H,K,D]
    scores = relative_scores(q, k, r, published.content_bias, published.position_bias)
    future = torch.ones(new, keys, dtype=torch.bool).triu(keys - new + 1)
    torch.testing.assert_close(scores.masked_fill(future, -math.inf).softmax(-1), weights)


@pytest.mark.parametrize(("new", "past"), [(1, 0), (4, 0), (1, 3), (5, 3), (2, 7)])
def test_a_segment_is_the_models_layer(published, new, past):
    torch.nn.init.eye_(published.o_proj.weight)
    x, memory = numbers(2, new, WIDTH), numbers(2, past, WIDTH)
    expected, _, waves = read(published, torch.cat([memory.detach(), x], 1), new)
    matrices = [getattr(published, f"{letter}_proj").weight for letter in "qkvr"]
    biases = published.content_bias, published.position_bias
    out, kept = segment_attention(x, memory, waves, *(matrix.T for matrix in matrices), *biases, 4)
    torch.testing.assert_close(out, expected)
    assert torch.equal(kept, torch.cat([memory, x], 1)[:, -4:]) and not kept.requires_grad
    wanted = [x, *matrices, *biases]
    torch.testing.assert_close(
        *(torch.autograd.grad(y.square().sum(), wanted, retain_graph=True) for y in (out, expected))
    )


def test_relative_scores_one_by_one():
    (batch, heads, new, keys, width) = (2, HEADS, 3, 5, 4)
    q, k, r = numbers(batch, heads, new, width), numbers(batch, heads, keys, width), numbers(heads, keys, width)
    u, v = numbers(heads, width), numbers(heads, width)
    scores = relative_scores(q, k, r, u, v)
    for b, h, i in torch.cartesian_prod(torch.arange(batch), torch.arange(heads), torch.arange(new)).tolist():
        for j in range(keys - new + i + 1):
            far = r[h, keys - 1 - (keys - new + i - j)]
            one = (q[b, h, i] + u[h]) @ k[b, h, j] + (q[b, h, i] + v[h]) @ far
            torch.testing.assert_close(scores[b, h, i, j], one / 2)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_large_scores_in_any_dtype(dtype):
    x, memory = (30 * torch.randn(2, length, 4).to(dtype) for length in (3, 5))
    w_q, w_k, w_v = (10 * torch.randn(4, 4).to(dtype).requires_grad_() for _ in range(3))
    out = memory_attention(x, memory, w_q, w_k, w_v, 2)
    assert out.dtype == dtype and out.isfinite().all()
    assert all(grad.isfinite().all() for grad in torch.autograd.grad(out.sum(), (w_q, w_k, w_v)))


def test_two_streams_read_the_same_words():
    """Against torch's own attention, where a row sees something; who is predicted first gets zeros, and no NaN."""
    h, g = numbers(2, 5, WIDTH), numbers(2, 5, WIDTH)
    w_q, w_k, w_v = (numbers(WIDTH, WIDTH) for _ in range(3))
    content, query = permutation_masks(torch.tensor([3, 0, 4, 1, 2]))
    found = two_stream_attention(h, g, w_q, w_k, w_v, content, query, HEADS)
    k, v = split_heads(h @ w_k, HEADS), split_heads(h @ w_v, HEADS)
    for asked, mask, stream in zip((h, g), (content, query), found, strict=True):
        sdpa = torch.nn.functional.scaled_dot_product_attention
        expected = sdpa(split_heads(asked @ w_q, HEADS), k, v, mask).nan_to_num().transpose(1, 2).flatten(2)
        torch.testing.assert_close(stream, expected, rtol=1e-10, atol=1e-10)
    assert not found[1][:, 3].any()
    grads = torch.autograd.grad(found[1][:, 1].sum(), [h, g])
    assert all(grad.isfinite().all() for grad in grads)
    assert not grads[0][:, [1, 2]].any() and grads[0][:, [0, 3, 4]].any()  # nothing of its own word, or of later ones
