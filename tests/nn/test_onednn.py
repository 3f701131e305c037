"""Products by oneDNN: the numbers of PyTorch's own, forward and backward, for whole models; all else is left alone."""

import copy

import pytest
import torch
import torch.nn.functional as F
from torch import nn

import tfkit
from tests.models.test_laws import make
from tfkit.nn import onednn
from tfkit.nn.int8 import quantize
from tfkit.objectives.chunked_cross_entropy import chunked_logits

pytestmark = pytest.mark.skipif(not onednn.is_available(), reason="this build of PyTorch has no oneDNN")
SIZES = {"vocab_size": 50, "d_model": 16, "n_layers": 2, "n_heads": 2, "max_length": 32}


@pytest.fixture
def products(monkeypatch):
    """Counts oneDNN's products."""
    found, product = [], onednn.product

    def counted(a, b, bias=None):
        found.append((tuple(a.shape), tuple(b.shape)))
        return product(a, b, bias)

    monkeypatch.setattr(onednn, "product", counted)
    return found


@pytest.mark.parametrize("shape", [(5, 6), (2, 3, 6), (1, 4, 6)], ids=str)
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("by_columns", [False, True])
def test_a_linear_layer_and_its_gradients(shape, bias, by_columns, products):
    torch.manual_seed(0)
    weight = torch.randn(6, 7).t() if by_columns else torch.randn(7, 6)
    given = [torch.randn(shape), weight, torch.randn(7) if bias else None]
    given = [None if t is None else t.requires_grad_() for t in given]
    wanted = [t for t in given if t is not None]
    expected = F.linear(*given)
    with onednn.onednn_products():
        found = F.linear(*given)
        grads = torch.autograd.grad(found.sin().sum(), wanted)
    torch.testing.assert_close(found, expected)
    torch.testing.assert_close(grads, torch.autograd.grad(expected.sin().sum(), wanted))
    assert len(products) == 3


def test_a_second_derivative_is_right():
    x, weight = torch.randn(5, 6, requires_grad=True), torch.randn(7, 6, requires_grad=True)

    def second():
        (grad,) = torch.autograd.grad(F.linear(x, weight).sin().sum(), x, create_graph=True)
        return torch.autograd.grad(grad.cos().sum(), (x, weight))

    expected = second()
    with onednn.onednn_products():
        torch.testing.assert_close(second(), expected)


@pytest.mark.parametrize("name", ["gpt2", "bert"])
@pytest.mark.parametrize("chunked", [False, True])
def test_a_model_trains_the_same(name, chunked, products):
    torch.manual_seed(0)
    more = {} if name == "gpt2" else {"d_ff": 24}
    one = tfkit.from_config(name, "causal_lm" if name == "gpt2" else "masked_lm", **SIZES, **more).eval()
    other, ids = copy.deepcopy(one), torch.arange(16).view(2, 8)

    def loss(model):
        if not chunked:
            return model(input_ids=ids, labels=ids).loss
        with chunked_logits(5):
            return model(input_ids=ids, labels=ids).loss

    expected = loss(one)
    expected.backward()
    with onednn.onednn_products():
        found = loss(other)
        found.backward()
    torch.testing.assert_close(found, expected)
    for (key, a), b in zip(one.named_parameters(), other.parameters(), strict=True):
        torch.testing.assert_close(b.grad, a.grad, rtol=1e-4, atol=1e-6, msg=key)
    layers = sum(isinstance(module, nn.Linear) for module in one.modules())
    assert len(products) >= 3 * layers


def test_what_it_does_not_take_is_computed_as_ever(products):
    x = torch.randn(5, 6)
    given = [
        (x.double(), torch.randn(7, 6).double()), (x.bfloat16(), torch.randn(7, 6).bfloat16()),
        (x[:3], torch.randn(7, 6)), (x[0], torch.randn(7, 6)), (x[:0], torch.randn(7, 6)),
        (x, torch.randn(0, 6)),
    ]  # fmt: skip
    expected = [F.linear(*pair) for pair in given]
    with onednn.onednn_products():
        found = [F.linear(*pair) for pair in given]
        with torch.autocast("cpu", torch.bfloat16):
            assert F.linear(x, torch.randn(7, 6)).dtype == torch.bfloat16
        cubes = torch.randn(2, 5, 6) @ torch.randn(2, 6, 7)
    assert cubes.shape == (2, 5, 7) and products == []
    for a, b in zip(found, expected, strict=True):
        assert torch.equal(a, b)
    F.linear(x, torch.randn(7, 6))
    assert products == []  # the context has ended


def test_a_build_without_it_says_so(monkeypatch):
    monkeypatch.setattr(onednn, "is_available", lambda: False)
    with pytest.raises(RuntimeError, match="no oneDNN"), onednn.onednn_products():
        pass


def test_a_product_that_is_added_is_added_as_asked(products):
    start, x, y = torch.randn(5, 7), torch.randn(5, 6), torch.randn(6, 7)
    for how, taken in (
        ({}, 1),
        ({"beta": 0}, 1),
        ({"beta": 0.5}, 1),
        ({"alpha": 0.5}, 0),
        ({"alpha": 2, "beta": 0}, 0),
    ):
        before = len(products)
        with onednn.onednn_products():
            found = start.clone().addmm_(x, y, **how)
        torch.testing.assert_close(found, start.clone().addmm_(x, y, **how), rtol=1e-4, atol=1e-5)
        assert len(products) - before == taken


def decoder(dtype=torch.bfloat16):
    return make("llama")[1].to(dtype).eval()


def switch_in_steps(model, rows=1, **how):
    """Whether oneDNN is on in the forward passes of a generation, by the number of their tokens."""
    seen = []
    hook = model.register_forward_pre_hook(
        lambda _, args, kwargs: seen.append((kwargs["input_ids"].numel(), torch._C._get_mkldnn_enabled())),
        with_kwargs=True,
    )
    tfkit.generate(model, torch.arange(3, 7).expand(rows, -1), max_new_tokens=3, end_id=-1, **how)
    hook.remove()
    assert torch._C._get_mkldnn_enabled()
    return seen


def test_steps_of_one_row_in_bfloat16_are_multiplied_by_pytorch_itself():
    assert switch_in_steps(decoder()) == [(4, True), (1, False), (1, False)]


def test_everything_else_is_left_to_onednn():
    assert switch_in_steps(decoder(), rows=2) == [(8, True), (2, True), (2, True)]
    assert all(on for _, on in switch_in_steps(decoder(torch.float32)))
    assert all(on for _, on in switch_in_steps(quantize(decoder(), smallest=1)))
    by_columns = decoder()
    weight = by_columns.layers[0].attn.q_proj.weight
    weight.data = weight.data.t().contiguous().t()
    assert all(on for _, on in switch_in_steps(by_columns))


def test_both_products_of_a_row_are_those_of_float32_rounded_once():
    torch.manual_seed(0)
    x, weight = torch.randn(1, 1, 576).bfloat16(), torch.randn(192, 576).bfloat16()
    expected = F.linear(x.double(), weight.double())
    with onednn.without_onednn():
        found = F.linear(x, weight)
    rounding = 2.0**-8 * expected.abs() + 1e-3
    assert ((found.double() - expected).abs() <= rounding).all()


def test_the_switch_returns_to_what_it_was_when_the_last_thread_leaves():
    inner, outer = onednn.without_onednn(), onednn.without_onednn()
    outer.__enter__()
    inner.__enter__()
    outer.__exit__(None, None, None)
    assert not torch._C._get_mkldnn_enabled()
    inner.__exit__(None, None, None)
    assert torch._C._get_mkldnn_enabled()
    with pytest.raises(ZeroDivisionError), onednn.without_onednn():
        1 / 0  # noqa: B018
    assert torch._C._get_mkldnn_enabled()


def test_a_switch_by_somebody_else_meanwhile_is_kept():
    try:
        torch.backends.mkldnn.set_flags(False)
        with onednn.without_onednn():
            torch.backends.mkldnn.set_flags(True)
        assert torch._C._get_mkldnn_enabled()
        torch.backends.mkldnn.set_flags(False)
        with onednn.without_onednn():
            pass
        assert not torch._C._get_mkldnn_enabled()
    finally:
        torch.backends.mkldnn.set_flags(True)
