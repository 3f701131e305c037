"""The flat form of one size with one head is short, shows its softmax, and computes what the model computes."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest
import torch

from tests.models.table import ROWS
from tests.models.test_laws import lesson, make
from tfkit.tools.flatten_size import flatten_size
from tfkit.tools.rewrite import join_lines
from tfkit.tools.simplify import simplify
from tfkit.tools.specialise import specialise

HEADS = [
    ("bert", "masked_lm", 350),
    pytest.param("gpt2", "causal_lm", 350, marks=pytest.mark.slow),
    pytest.param("t5", "seq2seq_lm", 450, marks=pytest.mark.slow),
    pytest.param("roberta", "masked_lm", 350, marks=pytest.mark.slow),
    pytest.param("xlnet", "masked_lm", 560, marks=pytest.mark.slow),
]


@pytest.mark.parametrize(("name", "head", "lines"), HEADS)
def test_a_size_gives_the_models_numbers_and_gradients(name, head, lines, monkeypatch):
    row, model = make(name, head)
    text = flatten_size(name, head, **row.fields)
    assert len(text.splitlines()) <= lines
    assert ".softmax(-1)" in text and "scaled_dot_product_attention" not in text
    assert "import tfkit" not in text and "from tfkit" not in text
    flat = ModuleType("flat")
    monkeypatch.setitem(sys.modules, "flat", flat)
    exec(compile(text, "flat", "exec"), vars(flat))
    other = flat.MODEL(flat.Config()).double().eval()
    other.load_state_dict(model.state_dict())
    given = lesson(ROWS[name], model)
    expected, found = model(**given), other(**given)
    torch.testing.assert_close(found.logits, expected.logits, rtol=1e-9, atol=1e-12)
    pairs = ((expected.loss, model), (found.loss, other))
    grads = [torch.autograd.grad(loss, each.parameters(), allow_unused=True) for loss, each in pairs]
    for one, two in zip(*grads, strict=True):
        assert (one is None) == (two is None)
        if one is not None and two is not None:
            torch.testing.assert_close(two, one, rtol=1e-7, atol=1e-10)


def test_what_cannot_be_run_is_refused_in_a_line():
    with pytest.raises(ValueError, match=r"deepseek_v3 has 6\d\d,.* parameters, too many"):
        flatten_size("deepseek_v3", "causal_lm")
    with pytest.raises(ValueError, match="vit reads more than ids"):
        flatten_size("vit", "image_classification")


SMALL = '''
from torch import nn


def scaled(x, factor=1.0, shift=None, name="x"):
    """x [B]. Raises ValueError for a name."""
    if name == "y":
        raise ValueError(name)
    x = x * factor
    return x if shift is None else x + shift


class Base(nn.Module):
    def __init__(self, c, causal=False):
        super().__init__()
        self.causal, self.width = causal, c.width


class Model(Base):
    def __init__(self, config):
        super().__init__(config)

    def other(self, x):
        return x

    def forward(self, x, cache=None):
        if cache is not None:
            x = self.other(x)
        if len(x) > 3:
            x = x[:3]
        return scaled(x, self.width) if not self.causal else x


class Config:
    width = 2


MODEL = Model
'''


def test_what_is_settled_is_put_in_and_what_is_not_stays():
    use = lambda flat: flat.MODEL(flat.Config())(torch.ones(2))
    text = specialise(SMALL, use)
    for gone in ("cache", "causal", "other", "shift", "ValueError", "Base", "name"):
        assert gone not in text, gone
    assert "if len(x) > 3:" in text  # which this call did not do, and another one may
    assert "self.width" in text  # a number: the file is for all sizes
    flat = {}
    exec(text, flat)
    assert flat["MODEL"](flat["Config"]())(torch.arange(5.0)).tolist() == [0, 2, 4]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("return y if None is None else z", "return y"),
        ("return False or y", "return y"),
        ("f(*(x, y), **{'k': 1})", "f(x, y, k=1)"),
        ("return x\n    y(x)", "return x"),
        ("a, b = (g(each) for each in (x, y))\n    print(a, b)", "a = g(x)\n    b = g(y)\n    print(a, b)"),
        ("made = {'a': x}\n    print(made.pop('a'))", "print(x)"),
        ("x = x\n    print(x)", "print(x)"),
        ("return (f(x))", "return f(x)"),
        ("return (x // y) ** z", "return (x // y) ** z"),
        ("f((x - y) / z, (x or y) and z)", "f((x - y) / z, (x or y) and z)"),
    ],
)
def test_the_text_alone_shows_it(before, after):
    opening = "def MODEL(x, y, z, f, g):\n    "
    assert join_lines(simplify(opening + before + "\n")) == opening + after + "\n"


def test_what_is_put_in_keeps_together():
    text = "def either(x, y):\n    return x or y\n\n\ndef MODEL(x, y):\n    return not either(x, y)\n"
    assert "return not (x or y)" in simplify(text)


def test_a_function_that_writes_to_its_argument_is_not_put_where_the_argument_is_read_later():
    text = "def double(x):\n    x = x * 2\n    return x\n\n\ndef MODEL(x):\n    y = double(x)\n    return x + y\n"
    space = {}
    exec(simplify(text), space)
    assert space["MODEL"](3) == 9
