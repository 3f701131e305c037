"""The backend for single rows: what it does to a graph, and that its ids are those of eager decoding."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from torch import nn

import tfkit
from tests.models.table import drawn
from tests.models.test_laws import make
from tfkit.decode import Greedy, single_row
from tfkit.nn.int8 import int8_linear, quantize, quantize_rows

HOW = {"max_new_tokens": 6, "end_id": -1, "start_id": 1, "pad_id": 0}
ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("bias", [True, False])
def test_a_sum_over_columns_is_the_product(dtype, bias):
    torch.manual_seed(0)
    x, weight, b = (torch.randn(*shape).to(dtype) for shape in ((1, 1, 40), (7, 40), (7,)))
    given = (x, weight, b if bias else None)
    near = {"rtol": 1e-5 if dtype == torch.float32 else 1.6e-2, "atol": 1e-5}
    torch.testing.assert_close(single_row.product_as_sum(*given), F.linear(*given), **near)
    q, scale = quantize_rows(torch.randn(7, 64))
    x = torch.randn(1, 64)
    expected = int8_linear(x, q, scale)
    torch.testing.assert_close(single_row.int8_product_as_sum(x, q, scale), expected, rtol=2e-2, atol=3e-2)


@pytest.fixture
def compiled(monkeypatch):
    """What the compiler is given; the graph then runs as it is. -> the numbers of products that are left in each"""
    seen = []

    def compile_fx(graph, inputs):
        left = [
            node
            for function in (F.linear, torch._weight_int8pack_mm)
            for node in graph.graph.find_nodes(op="call_function", target=function)
        ]
        seen.append(len(left))
        return graph.forward

    monkeypatch.setattr("torch._inductor.compile_fx.compile_fx", compile_fx)
    return seen


@pytest.mark.parametrize("name", ["gpt2", "t5", "llama"])
def test_a_step_of_one_row_has_no_product_left_and_gives_the_ids_of_eager_decoding(name, compiled):
    model, ids = make(name, dtype=torch.float32)[1], drawn(1, 5)
    found = tfkit.generate(model, ids, Greedy(), compile=True, **HOW)
    assert torch.equal(found, tfkit.generate(model, ids, Greedy(), **HOW))
    assert compiled == [0]


def test_weights_in_int8_are_summed_as_well(compiled):
    model, ids = quantize(make("llama", dtype=torch.float32)[1], smallest=1), drawn(1, 5)
    tfkit.generate(model, ids, Greedy(), compile=True, **HOW)
    assert compiled == [0]


def test_several_rows_and_matrices_by_columns_are_left_to_the_compiler(compiled):
    model, ids = make("llama", dtype=torch.float32)[1], drawn(3, 5)
    weight = model.layers[0].attn.q_proj.weight
    weight.data = weight.data.t().contiguous().t()
    for rows in (ids, ids[:1]):
        found = tfkit.generate(model, rows, Greedy(), compile=True, **HOW)
        assert torch.equal(found, tfkit.generate(model, rows, Greedy(), **HOW))
    assert compiled[0] > 1 and compiled[1] == 1


def test_weights_that_change_after_compiling_are_seen(compiled):
    model, ids = make("llama", dtype=torch.float32)[1], drawn(1, 5)
    before = tfkit.generate(model, ids, Greedy(), compile=True, **HOW)
    nn.init.normal_(model.embed.weight, generator=torch.Generator().manual_seed(3))
    after = tfkit.generate(model, ids, Greedy(), compile=True, **HOW)
    assert not torch.equal(before, after)
    assert torch.equal(after, tfkit.generate(model, ids, Greedy(), **HOW))
    loss = model.train()(input_ids=ids, labels=ids).loss
    loss.backward()
    assert model.layers[0].ff.up.weight.grad.isfinite().all()


def test_a_product_that_is_written_into_a_tensor_is_left_to_the_compiler(compiled):
    weight, x = torch.randn(6, 6), torch.randn(1, 6)

    def into(x):
        out = torch.zeros(1, 6)
        F.linear(x, weight, out=out)
        return out + 1

    found = torch.compile(into, backend=single_row.single_row_backend)(x)
    torch.testing.assert_close(found, into(x))
    assert compiled == [1]


# -- as for a card, by Triton's interpreter ---------------------------------------------------------------------------
AS_ON_A_CARD = """
import torch, tfkit
from tests.models.table import drawn
from tests.models.test_laws import make
from tfkit.decode import single_row, single_row_kernels

single_row.is_on_gpu = lambda inputs: True
replaced, use_kernels = [], single_row_kernels.use_kernels
single_row_kernels.use_kernels = lambda graph: replaced.append(use_kernels(graph))
import torch._inductor.compile_fx as inductor
inductor.compile_fx = lambda graph, inputs: graph.forward
how = {"max_new_tokens": 3, "end_id": -1, "start_id": 1, "pad_id": 0}
wide = {"gpt2": {"d_model": 64}, "llama": {"d_head": 16}, "t5": {"d_kv": 16}}  # heads that the kernel takes
for name, products, attentions in [("gpt2", 13, 2), ("llama", 15, 2), ("t5", 17, 4)]:
    model, ids = make(name, dtype=torch.float32, **wide[name])[1], drawn(1, 5)
    found = tfkit.generate(model, ids, compile=True, **how)
    assert torch.equal(found, tfkit.generate(model, ids, **how)), name
    assert replaced[-1] == (products, attentions), replaced
single_row_kernels.has_shared_memory_for = lambda q, k: False  # as on a card without the shared memory
model, ids = make("llama", dtype=torch.float32, **wide["llama"])[1], drawn(1, 5)
found = tfkit.generate(model, ids, compile=True, **how)
assert torch.equal(found, tfkit.generate(model, ids, **how))
assert replaced[-1] == (15, 0), replaced
"""

WRITTEN_TO = """
import torch, torch.nn.functional as F
from tfkit.decode import single_row_kernels

weight, ids, replaced = torch.randn(6, 6), torch.tensor([0]), []

def backend(graph, inputs):
    before = len(graph.graph.nodes)
    assert single_row_kernels.use_kernels(graph) == (1, 0)
    replaced.append(before - len(graph.graph.nodes))
    return graph.forward

def view_before(x):
    view = x.view(-1)
    y = F.linear(x, weight)
    view.add_(1)
    return F.relu(y) + 1

def by_method(x):
    y = F.linear(x, weight)
    x.mul_(2)
    return F.relu(y) + x

def by_operator(x):
    y = F.linear(x, weight)
    x += 1
    return F.relu(y) + x

def by_index(x):
    y = F.linear(x, weight)
    x[..., 0] = 0
    return F.relu(y) + x

def by_activation(x):
    y = F.linear(x, weight)
    F.relu(x, inplace=True)
    return F.relu(y) + x

def by_activation_told_by_place(x):
    y = F.linear(x, weight)
    F.relu(x, True)
    return F.relu(y) + x

def by_out(x):
    y = F.linear(x, weight)
    torch.add(x, 1, out=x)
    return F.relu(y) + x

def by_underscored_function(x):
    y = F.linear(x, weight)
    torch.relu_(x)
    return F.relu(y) + x

def by_renormalising(x):
    t = x * 3
    y = F.linear(t, weight)
    F.embedding(ids, t, max_norm=0.1)
    return F.relu(y) + 1

def by_running_statistics(x):
    t = (x * 3).view(-1)
    y = F.linear(t[None], weight)
    F.batch_norm(torch.ones(4, 6), t, torch.ones(6), training=True)
    return F.relu(y) + 1

def late(x):  # the activation is taken over, the sum is not
    y = F.relu(F.linear(x, weight))
    x += 1
    return y + x

def untouched(x):
    y = F.linear(x, weight)
    z = x * 2
    return F.relu(y) + z

for function in (view_before, by_method, by_operator, by_index, by_activation, by_activation_told_by_place, by_out,
                 by_underscored_function, by_renormalising, by_running_statistics, late, untouched):
    x = torch.randn(1, 6)
    found, expected = torch.compile(function, backend=backend)(x.clone()), function(x.clone())
    torch.testing.assert_close(found, expected, msg=lambda text: f"{function.__name__}: {text}")
assert replaced == [0] * 10 + [1, 2], replaced

def into(x):
    out = torch.zeros(1, 6)
    F.linear(x, weight, out=out)
    return F.relu(out)

def untaken(graph, inputs):
    assert single_row_kernels.use_kernels(graph) == (0, 0)
    return graph.forward

x = torch.randn(1, 6)
torch.testing.assert_close(torch.compile(into, backend=untaken)(x), into(x))
"""


def interpreted(code):
    """Runs code in a process of its own, as triton reads TRITON_INTERPRET when it is first imported."""
    env = {**os.environ, "TRITON_INTERPRET": "1"}
    return subprocess.run([sys.executable, "-c", code], env=env, cwd=ROOT, capture_output=True, text=True, check=False)


def test_steps_as_on_a_card_give_the_ids_of_eager_decoding():
    pytest.importorskip("triton", reason="triton is not installed: `make test-kernels` brings it (1 GB)")
    done = interpreted(AS_ON_A_CARD)
    assert done.returncode == 0, done.stderr[-2000:]


def test_a_product_takes_over_nothing_that_follows_a_write_in_place():
    pytest.importorskip("triton", reason="triton is not installed: `make test-kernels` brings it (1 GB)")
    done = interpreted(WRITTEN_TO)
    assert done.returncode == 0, done.stderr[-2000:]


# -- the compiler itself ----------------------------------------------------------------------------------------------
@pytest.mark.slow
@pytest.mark.skipif(shutil.which("g++") is None, reason="torch's compiler needs g++")
def test_a_compiled_step_gives_the_ids_of_eager_decoding():
    model, ids = make("llama", dtype=torch.float32)[1], drawn(1, 5)
    found = tfkit.generate(model, ids, Greedy(), compile=True, **HOW)
    assert torch.equal(found, tfkit.generate(model, ids, Greedy(), **HOW))


# -- with a card: `pytest -m gpu tests/decode/test_single_row.py` -----------------------------------------------------
@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device is here")
@pytest.mark.parametrize("name", ["gpt2", "t5", "llama"])
def test_on_a_card_the_ids_are_those_of_eager_decoding(name):
    model, ids = make(name, dtype=torch.float32)[1].to("cuda"), drawn(1, 5).to("cuda")
    found = tfkit.generate(model, ids, Greedy(), compile=True, **HOW)
    assert torch.equal(found, tfkit.generate(model, ids, Greedy(), **HOW))
