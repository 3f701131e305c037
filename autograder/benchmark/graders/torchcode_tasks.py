"""A few named tests for each task: the shape, the values on one input, the presence of a gradient, one property.

Follows the public tasks of TorchCode (github.com/duoan/TorchCode, torch_judge/tasks, state of March 2026): what each
of their tests checks and with which tolerance (`torch.allclose`, atol 1e-5). Written by this project for the signatures
of its exercises, which return the weights besides the output, have other names of submodules, and rotate one tensor at
a time. TorchCode's tasks have no mask, so where an exercise needs one it is full or causal.
"""

from __future__ import annotations

from autograder.benchmark.grader import TestSource

HEAD = """
import math, torch
def _same(actual, expected, why):
    assert torch.allclose(actual, expected, atol=1e-5), why
"""
TESTS = {
    "attention.scaled_dot_product": """
torch.manual_seed(42)
q, k, v = (torch.randn(2, 4, 8, requires_grad=True) for _ in range(3))
out = scaled_dot_product_attention(q, k, v)[0]
assert out.shape == (2, 4, 8), "shape"
_same(out, torch.softmax(q @ k.transpose(1, 2) / math.sqrt(8), -1) @ v, "values")
out.sum().backward()
assert q.grad is not None and k.grad is not None and v.grad is not None, "gradients"
crossed = scaled_dot_product_attention(torch.randn(1, 3, 16), torch.randn(1, 5, 16), torch.randn(1, 5, 32))[0]
assert crossed.shape == (1, 3, 32), "two lengths"
past = torch.ones(8, 8, dtype=torch.bool).tril()
q, k, v = (torch.randn(1, 8, 16) for _ in range(3))
first = scaled_dot_product_attention(q, k, v, past)[0]
k2, v2 = k.clone(), v.clone()
k2[:, 4:], v2[:, 4:] = torch.randn(1, 4, 16), torch.randn(1, 4, 16)
_same(first[:, :4], scaled_dot_product_attention(q, k2, v2, past)[0][:, :4], "the future shows")
_same(first[:, 0], v[:, 0], "the first position sees itself alone")
""",
    "masks.softmax": """
x = torch.tensor([1.0, 2.0, 3.0]).unsqueeze(0)
for given in (x, torch.randn(4, 8), x + 999.0):
    out = masked_softmax(given, torch.ones(given.shape, dtype=torch.bool))
    assert not torch.isnan(out).any() and not torch.isinf(out).any(), "not stable"
    _same(out, torch.softmax(given, -1), "values")
    _same(out.sum(-1), torch.ones(given.size(0)), "rows must sum to 1")
""",
    "attention.multi_head": """
torch.manual_seed(0)
layer = MultiHeadAttention(16, 2)
for name in ("q_proj", "k_proj", "v_proj", "o_proj"):
    part = getattr(layer, name)
    assert isinstance(part, torch.nn.Linear) and part.weight.shape == (16, 16) and part.weight.requires_grad, name
given = [torch.randn(1, 4, 16, requires_grad=True) for _ in range(3)]
out = layer(*given)[0]
q, k, v = (one(x).view(1, 4, 2, 8).transpose(1, 2) for one, x in zip((layer.q_proj, layer.k_proj, layer.v_proj), given))
mixed = torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(8), -1) @ v
_same(out, layer.o_proj(mixed.transpose(1, 2).reshape(1, 4, 16)), "values")
out.sum().backward()
assert given[0].grad is not None and layer.q_proj.weight.grad is not None, "gradients"
assert layer(torch.randn(1, 3, 16), torch.randn(1, 5, 16), torch.randn(1, 5, 16))[0].shape == (1, 3, 16), "two lengths"
""",
    "modern.rms_norm": """
for shape in ((2, 8), (4, 16), (2, 4, 32)):
    x = torch.randn(shape, requires_grad=True)
    weight = (torch.randn if shape == (4, 16) else torch.ones)(shape[-1], requires_grad=True)
    out = rms_norm(x, weight)
    assert out.shape == x.shape, "shape"
    _same(out, x / torch.sqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * weight, "values")
    out.sum().backward()
    assert x.grad is not None and weight.grad is not None, "gradients"
""",
    "positions.rotary": """
torch.manual_seed(0)
q, k = torch.randn(1, 16, 32, requires_grad=True), torch.randn(1, 16, 32)
out, other = apply_rotary(q, torch.arange(16)), apply_rotary(k, torch.arange(16))
assert out.shape == q.shape, "shape"
_same(out.norm(dim=-1), q.norm(dim=-1), "the norm changes")
one, two = torch.randn(32).expand(1, 8, 32), torch.randn(32).expand(1, 8, 32)
scores = (apply_rotary(one, torch.arange(8)) @ apply_rotary(two, torch.arange(8)).transpose(1, 2))[0]
assert torch.allclose(scores[0, 2], scores[3, 5], atol=1e-4), "scores must depend on the distance alone"
out.sum().backward()
assert q.grad is not None, "gradients"
""",
    "tuning.dpo": """
easy = dpo_loss(torch.zeros(2), torch.full((2,), -10.0), torch.full((2,), -1.0), torch.full((2,), -1.0), 0.5)
hard = dpo_loss(torch.tensor([-10.0]), torch.zeros(1), torch.tensor([-1.0]), torch.tensor([-1.0]), 0.5)
assert easy < 0.1 and hard > 1.0, "an easy pair costs little, a hard one much"
torch.manual_seed(0)
a, b, c, d = (torch.randn(4, requires_grad=place < 2) for place in range(4))
loss = dpo_loss(a, b, c, d, 0.5)
_same(loss, -torch.nn.functional.logsigmoid(0.5 * ((a - c) - (b - d))).mean(), "values")
loss.backward()
assert a.grad is not None and b.grad is not None, "gradients"
assert not torch.allclose(loss, dpo_loss(a, b, c, d, 1.0)), "beta must count"
""",
}

GRADER = TestSource(
    title="named tests of a task",
    follows="TorchCode's public tasks, March 2026; written anew by this project",
    tests={exercise: HEAD + text for exercise, text in TESTS.items()},
)
