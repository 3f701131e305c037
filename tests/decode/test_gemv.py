"""The backend for single rows on a GPU: what it does to a graph, and that its ids are those of eager decoding."""

import pytest
import torch
import torch.nn.functional as F
from torch import fx, nn

import tfkit
from tests.models.table import drawn
from tests.models.test_laws import make
from tfkit.decode import Greedy, gemv

HOW = {"max_new_tokens": 6, "end_id": -1, "start_id": 1, "pad_id": 0}


class Layers(nn.Module):
    """Linear layers as a graph has them: with a bias by position, by name, and without one."""

    def __init__(self):
        super().__init__()
        self.w, self.v, self.b = (nn.Parameter(torch.randn(*shape)) for shape in ((5, 4), (4, 5), (5,)))

    def forward(self, x):
        x = F.gelu(F.linear(x, self.w, self.b))
        return F.linear(F.linear(x, self.v), weight=self.w, bias=self.b) + F.linear(x, self.v, None).sum()


def test_biases_are_split_off_and_nothing_else_changes():
    layers, x = Layers(), torch.randn(1, 3, 4)
    graph = fx.symbolic_trace(layers)
    gemv.split_biases(graph)
    torch.testing.assert_close(graph(x), layers(x))
    linears = graph.graph.find_nodes(op="call_function", target=F.linear)
    assert len(linears) == 4 and all(
        node.kwargs.get("bias") is None and node.args[2:] in ((), (None,)) for node in linears
    )
    assert len(graph.graph.find_nodes(op="call_function", target=torch.add)) == 2


@pytest.fixture
def compiled(monkeypatch):
    """What the compiler is given on a GPU; a CPU stands in, and the graph runs as it is."""
    seen = []

    def compile_fx(graph, inputs, config_patches=None):
        linears = graph.graph.find_nodes(op="call_function", target=F.linear)
        seen.append((sum(node.args[2:] not in ((), (None,)) for node in linears), config_patches))
        return graph.forward

    monkeypatch.setattr("torch._inductor.compile_fx.compile_fx", compile_fx)
    return seen


@pytest.mark.parametrize("name", ["gpt2", "t5"])
def test_steps_as_for_a_gpu_give_the_ids_of_eager_decoding(name, compiled, monkeypatch):
    monkeypatch.setattr(gemv, "is_on_gpu", lambda inputs: True)
    model, ids = make(name)[1], drawn(1, 5)
    found = tfkit.generate(model, ids, Greedy(), compile="gemv", **HOW)
    assert torch.equal(found, tfkit.generate(model, ids, Greedy(), **HOW))
    assert compiled == [(0, {"coordinate_descent_tuning": True})]


def test_a_cpu_is_compiled_as_usual(compiled):
    model, ids = make("gpt2")[1], drawn(1, 5)
    assert torch.equal(tfkit.generate(model, ids, compile="gemv", **HOW), tfkit.generate(model, ids, **HOW))
    ((biased, patches),) = compiled
    assert biased and patches is None


# -- with a card: `pytest -m gpu tests/decode/test_gemv.py` -----------------------------------------------------------
@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device is here")
@pytest.mark.parametrize("name", ["gpt2", "t5"])
def test_on_a_card_the_ids_are_those_of_eager_decoding(name):
    model, ids = make(name, dtype=torch.float32)[1].to("cuda"), drawn(1, 5).to("cuda")
    found = tfkit.generate(model, ids, Greedy(), compile="gemv", **HOW)
    assert torch.equal(found, tfkit.generate(model, ids, Greedy(), **HOW))
