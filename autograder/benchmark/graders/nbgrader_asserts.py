"""Plain asserts below a solution cell, as in nbgrader's documentation and most courses.

Follows nbgrader's user guide, "Creating and grading assignments" (autograder tests cells): a handful of `assert`s on
small examples with the expected shape and values; whatever raises costs the points. Written for these exercises
by this project: our idea of a typical test cell, not taken from any course.
"""

from __future__ import annotations

from autograder.benchmark.grader import TestSource

ATTENTION = """
import torch
q = torch.tensor([[[1.0, 0.0], [0.0, 1.0]]])
k = torch.tensor([[[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]])
v = torch.tensor([[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]])
output, weights = scaled_dot_product_attention(q, k, v)
assert output.shape == (1, 2, 2)
assert weights.shape == (1, 2, 3)
assert torch.allclose(weights.sum(-1), torch.ones(1, 2))
expected = torch.softmax(q @ k.transpose(-2, -1) / 2 ** 0.5, -1) @ v
assert torch.allclose(output, expected, atol=1e-4)
"""
ATTEND = """
import torch
query = torch.tensor([[1.0, 2.0]])
keys = torch.tensor([[[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]])
mask = torch.tensor([[True, True, False]])
context, weights = attend(query, keys, mask)
assert context.shape == (1, 2) and weights.shape == (1, 3)
assert weights[0, 2] == 0
expected = torch.softmax(torch.tensor([1.0, 2.0]), -1)
assert torch.allclose(weights[0, :2], expected, atol=1e-4)
assert torch.allclose(context[0], expected, atol=1e-4)
"""
CAUSAL = """
import torch
mask = causal_mask(4)
assert mask.shape == (4, 4)
assert mask.dtype == torch.bool
assert mask.tolist() == [
    [True, False, False, False],
    [True, True, False, False],
    [True, True, True, False],
    [True, True, True, True],
]
"""
SOFTMAX = """
import torch
scores = torch.tensor([[1.0, 2.0, 3.0], [1.0, 1.0, 1.0]])
mask = torch.tensor([[True, True, False], [True, True, True]])
weights = masked_softmax(scores, mask)
assert weights.shape == (2, 3)
assert torch.allclose(weights.sum(-1), torch.ones(2))
assert torch.allclose(weights[0], torch.tensor([0.2689, 0.7311, 0.0]), atol=1e-4)
assert torch.allclose(weights[1], torch.tensor([1 / 3] * 3), atol=1e-4)
"""
HEADS = """
import torch
torch.manual_seed(0)
layer = MultiHeadAttention(8, 2)
x = torch.randn(2, 5, 8)
output, weights = layer(x, x, x)
assert output.shape == (2, 5, 8)
assert weights.shape == (2, 2, 5, 5)
assert torch.allclose(weights.sum(-1), torch.ones(2, 2, 5), atol=1e-4)
assert not torch.isnan(output).any()
"""
SINUSOIDAL = """
import math, torch
table = sinusoidal_positions(10, 6)
assert table.shape == (10, 6)
assert torch.allclose(table[0], torch.tensor([0.0, 1.0, 0.0, 1.0, 0.0, 1.0]), atol=1e-4)
assert abs(float(table[1, 0]) - math.sin(1)) < 1e-4
assert abs(float(table[1, 1]) - math.cos(1)) < 1e-4
assert abs(float(table[3, 2]) - math.sin(3 / 10000 ** (2 / 6))) < 1e-4
"""
SMOOTHING = """
import torch
from torch.nn import functional as F
torch.manual_seed(0)
logits, targets = torch.randn(2, 3, 5), torch.tensor([[1, 2, 3], [4, 1, 2]])
loss = label_smoothed_loss(logits, targets, 0.0, 0)
assert loss.dim() == 0
assert torch.allclose(loss, F.cross_entropy(logits.reshape(-1, 5), targets.reshape(-1)), atol=1e-4)
best = logits[..., 1:].argmax(-1) + 1
assert label_smoothed_loss(logits * 10, best, 0.1, 0) > label_smoothed_loss(logits * 10, best, 0.0, 0)
"""
NOAM = """
assert abs(noam_rate(1, 512, 4000) - 512 ** -0.5 * 4000 ** -1.5) < 1e-8
assert abs(noam_rate(4000, 512, 4000) - 512 ** -0.5 * 4000 ** -0.5) < 1e-8
assert noam_rate(100, 512, 4000) < noam_rate(200, 512, 4000)
assert noam_rate(8000, 512, 4000) < noam_rate(4000, 512, 4000)
"""
TOP_K = """
import torch
out = top_k_filter(torch.tensor([1.0, 4.0, 2.0, 3.0]), 2)
assert out.tolist() == [float("-inf"), 4.0, float("-inf"), 3.0]
"""
RMS_NORM = """
import torch
x = torch.tensor([[3.0, 4.0]])
out = rms_norm(x, torch.ones(2))
assert out.shape == (1, 2)
assert torch.allclose(out, x / 12.5 ** 0.5, atol=1e-4)
"""

GRADER = TestSource(
    title="plain asserts",
    follows="nbgrader's user guide, autograder tests cells; written by this project",
    tests={
        "attention.attend": ATTEND,
        "attention.scaled_dot_product": ATTENTION,
        "masks.causal": CAUSAL,
        "masks.softmax": SOFTMAX,
        "attention.multi_head": HEADS,
        "positions.sinusoidal": SINUSOIDAL,
        "training.label_smoothing": SMOOTHING,
        "training.noam": NOAM,
        "decoding.top_k": TOP_K,
        "modern.rms_norm": RMS_NORM,
    },
)
