"""Hashed attention, reversible layers and pieces of a feed-forward part, against loops over their definitions."""

import math

import pytest
import torch
from torch import nn

from tfkit.nn import ReversibleBlock, chunked_feed_forward, lsh_attention, lsh_buckets, reversible
from tfkit.nn.lsh import bucket_neighbours, hashed_attention, unit_keys

DTYPES = [torch.float64, torch.float32, torch.bfloat16]


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(0)


def test_buckets_by_the_definition():
    vectors, rotations = torch.randn(2, 5, 4), torch.randn(4, 3)
    buckets = lsh_buckets(vectors, rotations)
    assert buckets.dtype == torch.int64
    for row in range(2):
        for i in range(5):
            scores = [float(vectors[row, i] @ rotations[:, r]) for r in range(3)]
            scores += [-score for score in scores]
            assert buckets[row, i] == scores.index(max(scores))


def by_hand(qk, v, visible, scale):
    """One query after the other; itself where nothing else is visible."""
    out = torch.zeros_like(v)
    for i in range(len(v)):
        near = [j for j in range(len(v)) if j != i and visible(i, j)] or [i]
        scores = torch.stack([qk[i] @ qk[j] / qk[j].norm() * scale for j in near])
        out[i] = scores.softmax(0) @ v[near]
    return out


def test_attention_within_a_bucket_by_the_definition():
    qk, v = torch.randn(2, 2, 9, 4, dtype=torch.float64).unbind(0)
    buckets = torch.randint(3, (2, 9))
    out = lsh_attention(qk, v, buckets)
    for row in range(2):
        same = lambda i, j, b=buckets[row]: j < i and b[i] == b[j]
        torch.testing.assert_close(out[row], by_hand(qk[row], v[row], same, 1 / math.sqrt(4)))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_attention_keeps_its_dtype_and_gives_finite_gradients(dtype):
    qk, v = (torch.randn(2, 6, 4).mul(scale).to(dtype).requires_grad_() for scale in (1e4, 1))
    out = lsh_attention(qk, v, torch.randint(2, (2, 6)))
    out.sum().backward()
    assert out.dtype == dtype and out.isfinite().all() and qk.grad.isfinite().all() and v.grad.isfinite().all()
    torch.testing.assert_close(lsh_attention(qk[:, :1], v[:, :1], torch.zeros(2, 1).long()), v[:, :1])


@pytest.mark.parametrize("causal", [False, True])
def test_sorted_chunks_by_the_definition(causal):
    """One round: sort, cut, look at the own chunk and the one before in a ring; real keys alone."""
    qk, v = torch.randn(2, 1, 1, 12, 4, dtype=torch.float64).unbind(0)
    buckets, real = torch.randint(4, (1, 1, 1, 12)), torch.arange(12)[None] < 10
    out = hashed_attention(qk, v, buckets, chunk=3, before=1, after=0, non_padding=real, causal=causal)
    order = sorted(range(12), key=lambda i: (int(buckets[0, 0, 0, i]), i))
    chunk = {i: place // 3 for place, i in enumerate(order)}

    def visible(i, j):
        return chunk[j] in (chunk[i], (chunk[i] - 1) % 4) and bool(real[0, j]) and (j < i or not causal)

    torch.testing.assert_close(out[0, 0], by_hand(qk[0, 0], v[0, 0], visible, 1.0), rtol=1e-5, atol=1e-5)


def test_rounds_are_one_attention_over_all_that_they_find():
    qk, v = torch.randn(2, 1, 2, 12, 4, dtype=torch.float64).unbind(0)
    buckets = torch.randint(4, (1, 2, 3, 12))
    out = hashed_attention(qk, v, buckets, chunk=4, before=0, after=0)
    for head in range(2):
        for i in range(12):
            weights, total = 0, 0
            for turn in range(3):
                row = buckets[0, head, turn]
                order = sorted(range(12), key=lambda j, row=row: (int(row[j]), j))
                start = order.index(i) // 4 * 4
                for j in order[start : start + 4]:
                    if j != i:
                        weight = (qk[0, head, i] @ unit_keys(qk)[0, head, j]).exp()
                        weights, total = weights + weight * v[0, head, j], total + weight
            torch.testing.assert_close(out[0, head, i], weights / total)


def test_gradients_of_sorted_chunks():
    qk, v = torch.randn(2, 1, 1, 6, 3, dtype=torch.float64).requires_grad_().unbind(0)
    buckets = torch.randint(3, (1, 1, 2, 6))
    for rounds in (buckets, buckets[:, :, :1]):
        attention = lambda a, b, r=rounds: hashed_attention(a, b, r, chunk=3, before=1, after=0, causal=True)
        assert torch.autograd.gradcheck(attention, (qk.detach().requires_grad_(), v.detach().requires_grad_()))


def test_the_last_one_among_its_bucket():
    buckets = torch.tensor([[[[2, 0, 1, 0, 2, 1]]]])  # sorted: 1 3 | 2 5 | 0 4
    assert bucket_neighbours(buckets, 2, 1, 0).tolist() == [[[[1, 3, 2, 5]]]]
    assert bucket_neighbours(buckets, 2, 1, 1).tolist() == [[[[1, 3, 2, 5, 0, 4]]]]


def blocks(width=3, depth=2, dropout=0.0):
    def half():
        return nn.Sequential(nn.Linear(width, width), nn.Tanh(), nn.Dropout(dropout))

    return nn.ModuleList(ReversibleBlock(half(), half()) for _ in range(depth)).double()


def test_a_block_and_its_inverse():
    block, (x1, x2) = blocks()[0], torch.randn(2, 4, 3, dtype=torch.float64)
    y1, y2 = block(x1, x2)
    torch.testing.assert_close(y1, x1 + block.f(x2))
    torch.testing.assert_close(y2, x2 + block.g(y1))
    torch.testing.assert_close(torch.stack(block.inverse(y1, y2)), torch.stack([x1, x2]))
    assert {name.partition(".")[0] for name, _ in block.named_parameters()} == {"f", "g"}


@pytest.mark.parametrize("dropout", [0.0, 0.5])
def test_reversible_layers_have_the_gradients_of_plain_ones(dropout):
    layers, x = blocks(dropout=dropout), torch.randn(2, 4, 3, dtype=torch.float64, requires_grad=True)
    found = []
    for through in (reversible, lambda layers, *both: layers[1](*layers[0](*both))):
        torch.manual_seed(1)
        out = torch.cat(through(layers, x[0], x[1]))
        found.append((out, *torch.autograd.grad(out.pow(3).sum(), (x, *layers.parameters()))))
    for one, other in zip(*found, strict=True):
        torch.testing.assert_close(one, other)


def test_what_is_frozen_stays_without_gradient():
    layers, x = blocks(), torch.randn(4, 3, dtype=torch.float64)
    layers[0].f.requires_grad_(False)
    state = torch.get_rng_state()
    sum(reversible(layers, x, x)).sum().backward()
    assert torch.equal(torch.get_rng_state(), state)
    assert all((p.grad is None) == name.startswith("0.f") for name, p in layers.named_parameters())


@pytest.mark.parametrize(("length", "chunk"), [(7, 3), (6, 3), (2, 5), (1, 1)])
def test_pieces_of_a_feed_forward(length, chunk):
    x, calls, f = torch.randn(2, length, 4), [], nn.Linear(4, 4)
    out = chunked_feed_forward(lambda part: calls.append(part) or f(part), x, chunk)
    torch.testing.assert_close(out, f(x))
    assert len(calls) == math.ceil(length / chunk)
    assert torch.equal(torch.cat(calls, 1), x) and all(part.size(1) == chunk for part in calls[:-1])
