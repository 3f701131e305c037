"""Many sizes against PyTorch's own layer, forward and backward.

Follows the way in which CMU's course on language-model systems tests its MiniTorch assignments (minitorch.github.io,
and public test files of the transformer assignment): `pytest.mark.parametrize` over batch, length, width and heads,
weights copied from `torch.nn`, `numpy.testing.assert_allclose` on outputs and gradients with a tolerance of 1e-5. Of
those tests only the signatures and parameters were read; the code here was written by this project.
"""

from __future__ import annotations

from autograder.benchmark.grader import TestSource

HEAD = """
import itertools, numpy, torch
from torch import nn
from torch.nn import functional as F
numpy.random.seed(3)
torch.manual_seed(3)
def _close(actual, expected):
    numpy.testing.assert_allclose(actual.detach().numpy(), expected.detach().numpy(), rtol=1e-5, atol=1e-5)
def _random(*shape):
    return torch.tensor(numpy.random.randn(*shape).astype("float32"), requires_grad=True)
"""
HEADS = """
for batch, length, width, heads in itertools.product((1, 4), (2, 9), (16, 32), (1, 4)):
    reference = nn.MultiheadAttention(width, heads, bias=True, batch_first=True)
    layer = MultiHeadAttention(width, heads)
    for place, name in enumerate(("q_proj", "k_proj", "v_proj")):
        part = slice(place * width, (place + 1) * width)
        getattr(layer, name).weight.data = reference.in_proj_weight.data[part].clone()
        getattr(layer, name).bias.data = reference.in_proj_bias.data[part].clone()
    layer.o_proj.load_state_dict(reference.out_proj.state_dict())
    x = _random(batch, length, width)
    y = x.detach().clone().requires_grad_()
    seen = torch.ones(length, length, dtype=torch.bool).tril()
    out, expected = layer(x, x, x, seen)[0], reference(y, y, y, attn_mask=~seen, need_weights=False)[0]
    _close(out, expected)
    out.sum().backward(); expected.sum().backward()
    _close(x.grad, y.grad)
    _close(layer.o_proj.weight.grad, reference.out_proj.weight.grad)
"""
FORWARD = """
for batch, length, width in itertools.product((1, 4), (2, 9), (16, 32)):
    layer = FeedForward(width, 4 * width)
    x = _random(batch, length, width)
    y = x.detach().clone().requires_grad_()
    expected = F.linear(F.relu(F.linear(y, layer.up.weight, layer.up.bias)), layer.down.weight, layer.down.bias)
    out = layer(x)
    _close(out, expected)
    out.sum().backward(); expected.sum().backward()
    _close(x.grad, y.grad)
"""
LOSS = """
for batch, length, words in itertools.product((1, 8), (2, 9), (5, 50)):
    x = _random(batch, length, words)
    y = x.detach().clone().requires_grad_()
    ids = torch.tensor(numpy.random.randint(1, words, (batch, length)))
    out, expected = causal_lm_loss(x, ids, 0), F.cross_entropy(y[:, :-1].reshape(-1, words), ids[:, 1:].reshape(-1))
    _close(out, expected)
    out.backward(); expected.backward()
    _close(x.grad, y.grad)
"""
SOFTMAX = """
for shape in ((2, 3), (4, 5, 6), (2, 3, 4, 5)):
    x = _random(*shape)
    y = x.detach().clone().requires_grad_()
    out, expected = masked_softmax(x, torch.ones(shape, dtype=torch.bool)), F.softmax(y, -1)
    _close(out, expected)
    seeds = torch.randn(shape)
    (out * seeds).sum().backward(); (expected * seeds).sum().backward()
    _close(x.grad, y.grad)
"""
ATTENTION = """
for batch, length, width in itertools.product((1, 4), (2, 9), (8, 16)):
    q, k, v = (_random(batch, length, width) for _ in range(3))
    copies = [one.detach().clone().requires_grad_() for one in (q, k, v)]
    out, expected = scaled_dot_product_attention(q, k, v)[0], F.scaled_dot_product_attention(*copies)
    _close(out, expected)
    out.sum().backward(); expected.sum().backward()
    for one, other in zip((q, k, v), copies):
        _close(one.grad, other.grad)
"""
TESTS = {
    "attention.scaled_dot_product": ATTENTION,
    "masks.softmax": SOFTMAX,
    "attention.multi_head": HEADS,
    "transformer.feed_forward": FORWARD,
    "objectives.causal_lm": LOSS,
}

GRADER = TestSource(
    title="parameterised against torch",
    follows="CMU's MiniTorch assignments, as described in public; written by this project",
    tests={exercise: HEAD + text for exercise, text in TESTS.items()},
)
