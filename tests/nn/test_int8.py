"""Weights in int8 give the products of the dequantised weights, in every operation that reads them."""

import copy

import pytest
import torch
import torch.nn.functional as F
from torch import nn

import tfkit
from tfkit.nn import int8
from tfkit.nn.fast import dequantize_rows, quantize_rows
from tfkit.nn.int8 import Int8Weight, int8_linear, quantize


def weight(out=40, width=32, dtype=torch.float32):
    return Int8Weight(*quantize_rows(torch.randn(out, width)), dtype)


@pytest.mark.parametrize("bias", [None, torch.randn(40)])
@pytest.mark.parametrize("shape", [(32,), (1, 32), (2, 3, 32), (5, 17, 32)])
def test_a_product_is_that_of_its_floats(shape, bias):
    w, x = weight(), torch.randn(shape)
    found, wanted = F.linear(x, w, bias), F.linear(x, w.floats(), bias)
    few = x.numel() // 32 <= int8.FEW_ROWS  # rounded to bfloat16 on the way: 8 bits
    torch.testing.assert_close(found, wanted, rtol=0, atol=0.01 * wanted.abs().max().item() if few else 1e-5)


def test_blocks_of_a_large_matrix_are_joined(monkeypatch):
    w, x = weight(), torch.randn(20, 32)
    whole = F.linear(x, w)
    monkeypatch.setattr(int8, "AT_ONCE", 7 * 32)
    torch.testing.assert_close(F.linear(x, w), whole, rtol=1e-4, atol=1e-4)


def test_a_table_gives_the_rows_that_are_looked_up():
    w, ids = weight(), torch.tensor([[3, 0], [39, 3]])
    assert torch.equal(F.embedding(ids, w), w.floats()[ids])


def test_any_other_operation_gets_floats():
    w = weight()
    assert torch.equal(w.T[:2] @ torch.ones(40, 1), w.floats().T[:2] @ torch.ones(40, 1))
    assert torch.equal(torch.stack([w, w])[1], w.floats())
    assert torch.equal(w.sum(), w.floats().sum())


def test_what_it_is_multiplied_by_has_a_gradient():
    w, x = weight(), torch.randn(2, 32, requires_grad=True)
    (found,) = torch.autograd.grad(F.linear(x, w).square().sum(), x)
    (wanted,) = torch.autograd.grad(F.linear(x, w.floats()).square().sum(), x)
    torch.testing.assert_close(found, wanted, rtol=1e-4, atol=1e-4)


@pytest.fixture
def gpt2():
    torch.manual_seed(0)
    sizes = {"d_model": 64, "n_layers": 2, "n_heads": 4, "vocab_size": 500, "max_length": 40}
    return tfkit.from_config("gpt2", head="causal_lm", **sizes).eval()


def test_matrices_are_rounded_and_the_rest_stays(gpt2):
    position, first = gpt2.position.weight.clone(), gpt2.layers[0].ff.up.weight.detach().clone()
    quantize(gpt2, smallest=64 * 100)
    kinds = {name for name, p in gpt2.named_parameters() if isinstance(p, Int8Weight)}
    up_and_down = {f"layers.{n}.ff.{part}.weight" for n in (0, 1) for part in ("up", "down")}
    assert kinds == up_and_down | {"embed.weight"}  # 64 · 64 are too few
    assert torch.equal(gpt2.position.weight, position)
    q, scale = quantize_rows(first)
    assert torch.equal(gpt2.layers[0].ff.up.weight.floats(), dequantize_rows(q, scale))


def test_a_shared_matrix_stays_shared():
    sizes = {"d_model": 32, "n_layers": 1, "n_heads": 4, "d_ff": 64, "vocab_size": 100}
    model = quantize(tfkit.from_config("t5", head="seq2seq_lm", **sizes), smallest=0)
    tables = [m.weight for m in model.modules() if isinstance(m, nn.Embedding) and m.num_embeddings == 100]
    assert all(isinstance(table, Int8Weight) and table is tables[0] for table in tables)


def test_a_model_is_copied_moved_and_its_dtype_changed(gpt2):
    ids = torch.arange(30)[None]
    with torch.no_grad():
        whole = quantize(gpt2, smallest=0)(input_ids=ids).logits
        again = copy.deepcopy(gpt2)
        assert isinstance(again.embed.weight, Int8Weight) and torch.equal(again(input_ids=ids).logits, whole)
        half = again.bfloat16()(input_ids=ids).logits
        assert half.dtype == torch.bfloat16 and isinstance(again.embed.weight, Int8Weight)
        torch.testing.assert_close(half.float(), whole, rtol=0, atol=0.03)
    assert again.to("meta").embed.weight.q.is_meta


def test_it_is_decoded_as_a_graph_too(gpt2):
    quantize(gpt2, smallest=0)
    how = {"input_ids": torch.arange(5)[None], "max_new_tokens": 6, "end_id": -1}
    assert torch.equal(tfkit.generate(gpt2, **how, compile="eager")[0], tfkit.generate(gpt2, **how)[0])


def test_no_floats_are_made_of_a_matrix_for_one_row(gpt2, monkeypatch):
    products, product = [], torch._weight_int8pack_mm
    monkeypatch.setattr(Int8Weight, "floats", lambda self: pytest.fail("the matrix was made floats again"))
    monkeypatch.setattr(torch, "_weight_int8pack_mm", lambda *given: products.append(1) or product(*given))
    with torch.no_grad():
        quantize(gpt2, smallest=0)(input_ids=torch.tensor([[1]]))
    assert len(products) == 2 * 6 + 1  # of each layer, and the words


@pytest.mark.parametrize("width", [1, 7, 16, 31, 48])
def test_no_kernel_reads_beyond_a_row(width, monkeypatch):
    """The fused kernel takes 32 columns at a time, whether they are there or not."""
    monkeypatch.setattr(torch, "_weight_int8pack_mm", lambda *_: pytest.fail("it reads beyond the row"))
    w, x = weight(5, width), torch.randn(2, width)
    torch.testing.assert_close(F.linear(x, w), F.linear(x, w.floats()), rtol=1e-4, atol=1e-4)


def test_a_matrix_that_is_stored_by_columns_is_rounded_too():
    """As GPT-2's are when they are read from a published file."""
    layer = nn.Linear(32, 40).requires_grad_(False)
    layer.weight.data = torch.randn(32, 40).T
    x, floats = torch.randn(2, 32), layer.weight.clone()
    found = quantize(layer, smallest=0)(x)
    torch.testing.assert_close(found, F.linear(x, floats, layer.bias), rtol=0, atol=0.3)
    assert layer.weight.q.is_contiguous()


def test_linear_says_its_shape():
    assert "Int8Weight([40, 32]" in repr(weight())
    assert int8_linear(torch.randn(0, 32), torch.zeros(4, 32, dtype=torch.int8), torch.ones(4)).shape == (0, 4)
