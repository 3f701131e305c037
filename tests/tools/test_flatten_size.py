"""The flat form of one size with one head is short, shows its softmax, and computes what the model computes."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest
import torch

import tfkit
from tests.models.table import ROWS
from tests.models.test_laws import lesson, make
from tfkit.tools import flatten_size as sizes
from tfkit.tools.flatten_size import flatten_size

NIGHT = [pytest.mark.nightly, pytest.mark.slow]
HEADS = [  # with limits of the lines of a file, and of the modules that they are from
    ("bert", "masked_lm", 310, 5),
    pytest.param("gpt2", "causal_lm", 290, 5, marks=pytest.mark.slow),
    pytest.param("t5", "seq2seq_lm", 350, 6, marks=NIGHT),
    pytest.param("roberta", "masked_lm", 310, 6, marks=NIGHT),
    pytest.param("xlnet", "masked_lm", 470, 6, marks=NIGHT),
    pytest.param("reformer", "causal_lm", 710, 6, marks=pytest.mark.slow),
]


@pytest.mark.parametrize(("name", "head", "lines", "modules"), HEADS)
def test_a_size_gives_the_models_numbers_and_gradients(name, head, lines, modules, monkeypatch):
    row, model = make(name, head)
    text = flatten_size(name, head, **row.fields)
    assert len(text.splitlines()) <= lines and text.count("\n# --- ") <= modules
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
    with pytest.raises(ValueError, match=r"gptj has 6,0\d\d,.* parameters, too many"):
        flatten_size("gptj", "causal_lm")
    with pytest.raises(ValueError, match="vit reads more than ids"):
        flatten_size("vit", "image_classification")


def test_the_small_model_differs_in_layers_and_words_alone():
    config = tfkit.registry.resolve_submodel({"architecture": "bert-base-uncased"})[2]
    small = sizes.small_config(config)
    assert (small.n_layers, small.vocab_size) == (2, 1001)
    assert {**vars(small), "n_layers": 12, "vocab_size": 30522} == vars(config)
    gpt2 = tfkit.registry.resolve_submodel({"architecture": "gpt2"})[2]
    assert sizes.small_config(gpt2).vocab_size == 50257  # its end token has the last id


def test_a_file_that_fits_the_small_model_alone_is_not_taken(monkeypatch):
    row, _ = make("bert", "masked_lm")
    layers = []

    def specialise(text, use):
        layers.append(use.model.config.n_layers)
        return text if len(layers) > 1 else text.replace("range(c.n_layers)", "range(2)")

    monkeypatch.setattr(sizes, "specialise", specialise)
    text = flatten_size("bert", "masked_lm", **{**row.fields, "n_layers": 3})
    assert layers == [2, 3]
    assert "range(c.n_layers)" in text and "range(2)" not in text
