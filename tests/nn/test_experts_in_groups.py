"""Experts in groups: any number of tokens, with gradients, and how many each expert has stays on the GPU. A CPU stands
in, whose grouped product is as exact as its loop."""

import copy
from contextlib import nullcontext

import pytest
import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

import tfkit
from tests.autograder.pretended import VALUES
from tests.models.table import drawn
from tests.models.test_laws import make
from tfkit.nn import experts
from tfkit.nn.experts import ExpertList, apply_experts, mix_experts, route_top_k, stack_experts, supports_grouped_mm
from tfkit.nn.feed_forward import GatedFeedForward

ROUTED = ("mixtral", "deepseek_v3", "gpt_oss")
WIDE = {  # rows of 16 bytes, as the kernel wants them; the balancing loss reads on a CPU, by `one_hot`
    "mixtral": {"d_model": 16, "d_ff": 24, "router_logits": False},
    "gpt_oss": {"d_model": 16, "d_ff": 24, "router_logits": False},
    "deepseek_v3": {"d_model": 16, "d_expert": 24},
}  # fmt: skip
need_card = pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device is here")
grouped = pytest.mark.skipif(not hasattr(torch.nn.functional, "grouped_mm"), reason="this PyTorch has no grouped_mm")


@pytest.fixture
def as_on_a_gpu(monkeypatch):
    """The CPU passes for a GPU with a kernel, for every type that its own can compute."""
    monkeypatch.setattr(experts, "host_would_wait", lambda device: True)
    monkeypatch.setattr(experts, "has_grouped_mm_kernel", lambda device: True)


@pytest.fixture
def groups(monkeypatch):
    """How many layers computed their experts in groups."""
    seen, real = [], experts.mix_experts_grouped
    monkeypatch.setattr(experts, "mix_experts_grouped", lambda *given: seen.append(1) or real(*given))
    return seen


def gated(count=4, d_model=16, d_ff=24, dtype=torch.float32):
    torch.manual_seed(0)
    return ExpertList(GatedFeedForward(d_model, d_ff) for _ in range(count)).to(dtype)


def values_and_gradients(layer, mix, dtype, rows=3, unused=2):
    """Of 3 x 20 tokens, of which none chooses one of the experts."""
    torch.manual_seed(1)
    x = torch.randn(rows, 20, 16, dtype=dtype, device=layer[0].gate.weight.device).requires_grad_()
    logits = torch.randn(rows * 20, len(layer), device=x.device)
    logits[:, unused] = -100.0
    weights, chosen = route_top_k(logits, 2)
    weights = weights.to(dtype).requires_grad_()
    out = mix(layer, x, weights, chosen)
    out.square().sum().backward()
    return [out.detach(), x.grad, weights.grad, *(p.grad for p in layer.parameters())]


def in_a_loop(layer, x, weights, chosen):
    return mix_experts(x.flatten(0, 1), weights, chosen, list(layer)).view_as(x)


@grouped
@pytest.mark.parametrize("autocast", [False, True])
def test_groups_give_what_the_loop_gives(autocast, as_on_a_gpu, groups):
    """Also the gradients, and those of an expert that no token chose: zeros."""
    dtype = torch.float32 if autocast else torch.bfloat16
    layer = gated(dtype=dtype)
    other = copy.deepcopy(layer)
    assert layer.stack()
    with torch.autocast("cpu", torch.bfloat16) if autocast else nullcontext():
        found = values_and_gradients(layer, apply_experts, dtype)
        expected = values_and_gradients(other, in_a_loop, dtype)
    assert groups
    assert not layer[2].gate.weight.grad.any()
    torch.testing.assert_close(found, expected, rtol=2e-2, atol=2e-2)


@grouped
def test_groups_are_exact_in_float32(as_on_a_gpu, groups, monkeypatch):
    monkeypatch.setattr(experts, "supports_grouped_mm", lambda x, d_ff: True)
    layer = gated()
    other = copy.deepcopy(layer)
    layer.stack()
    found, expected = (
        values_and_gradients(*pair, torch.float32) for pair in ((layer, apply_experts), (other, in_a_loop))
    )
    assert groups
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5)


class Read(TorchDispatchMode):
    """Names of operations whose results a host reads."""

    def __init__(self):
        super().__init__()
        self.names = []

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        name = function.overloadpacket.__name__
        self.names += [name] if name in VALUES else []
        return function(*args, **(kwargs or {}))


@grouped
@pytest.mark.parametrize("name", ROUTED)
def test_prompts_and_training_read_nothing(name, as_on_a_gpu):
    """In bfloat16, forward and backward; what is not stacked would."""
    _, model = make(name, dtype=torch.bfloat16, **WIDE[name])
    given = {"input_ids": drawn(2, 20), "labels": drawn(2, 20)}
    model.train()(**given)  # the first time something may be made that is kept
    read = []
    for stack in (lambda: None, lambda: stack_experts(model)):
        stack()
        with Read() as names:
            model(**given).loss.backward()
        read.append(names.names)
    assert read[1] == [] and bool(read[0]) == (name != "gpt_oss")  # whose experts are stacked from the start
    assert all(p.grad is not None for p in model.parameters() if p.requires_grad)


@grouped
@pytest.mark.parametrize("name", ROUTED)
def test_a_compiled_layer_in_training_is_one_graph_without_reading(name, as_on_a_gpu):
    """By AOTAutograd, backward pass included; float32 weights under autocast, as `tfkit.train --precision bfloat16`."""
    model, read = make(name, dtype=torch.float32, **WIDE[name])[1].train(), set()
    other, ids = copy.deepcopy(model), drawn(2, 20)
    stack_experts(model)

    def backend(graph, inputs):
        read.update({str(node.target) for node in graph.graph.nodes} & {"nonzero", "tolist", "bincount"})
        return graph.forward

    for layer in model.layers:
        layer.compile(backend=backend, fullgraph=True)
    losses = []
    for which in (model, other):
        with torch.autocast("cpu", torch.bfloat16):
            losses.append(which(ids, labels=ids).loss)
        losses[-1].backward()
    assert not read
    torch.testing.assert_close(*losses, rtol=1e-2, atol=1e-2)
    for p, q in zip(model.parameters(), other.parameters(), strict=True):
        torch.testing.assert_close(p.grad, q.grad, rtol=0.1, atol=0.02)


@pytest.mark.parametrize(
    "change",
    [
        lambda layer: layer[1].register_forward_hook(lambda *given: None),
        lambda layer: layer[1].up.register_forward_pre_hook(lambda *given: None),
        lambda layer: setattr(layer[1], "up", nn.Linear(16, 24, bias=False)),
        lambda layer: setattr(layer[1].up, "weight", nn.Parameter(torch.ones(24, 16))),
        lambda layer: setattr(layer[1].up.weight, "data", torch.ones(24, 16)),
        lambda layer: setattr(layer[1], "dropout", nn.Dropout(0.1)),
        lambda layer: setattr(layer[1], "activation", torch.relu),
        lambda layer: torch.nn.utils.parametrizations.weight_norm(layer[1].up),
    ],
)
def test_a_changed_expert_is_computed_by_itself(change, as_on_a_gpu, groups):
    layer = gated()
    assert layer.stack() and layer.is_stacked()
    change(layer)
    assert not layer.is_stacked()
    x = torch.randn(1, 20, 16)
    weights, chosen = route_top_k(torch.randn(20, 4), 2)
    assert torch.equal(apply_experts(layer.eval(), x, weights, chosen), in_a_loop(layer, x, weights, chosen))
    assert not groups


@pytest.mark.parametrize("name", ["mixtral", "deepseek_v3"])
def test_a_stacked_model_is_saved_like_any_other(name, as_on_a_gpu, tmp_path):
    """Its parameters share memory, which the files must not."""
    model = make(name, dtype=torch.float32)[1]
    assert stack_experts(model)
    model.save_pretrained(tmp_path)
    found = tfkit.from_pretrained(tmp_path, dtype=torch.float32)
    assert all(map(torch.equal, model.parameters(), found.parameters()))


def test_what_has_no_kernel_keeps_the_loop(monkeypatch):
    x = torch.zeros(1, 16, dtype=torch.bfloat16)
    assert not supports_grouped_mm(x, 24)  # a CPU
    monkeypatch.setattr(experts, "has_grouped_mm_kernel", lambda device: True)
    assert supports_grouped_mm(x, 24)
    assert not supports_grouped_mm(x.float(), 24)
    assert not supports_grouped_mm(x, 20) and not supports_grouped_mm(x[:, :9], 24)
    with torch.autocast("cpu", torch.bfloat16):
        assert supports_grouped_mm(x.float(), 24)


# -- with a card: `pytest -m gpu tests/nn/test_experts_in_groups.py` ---------------------------------------------------
@pytest.mark.gpu
@need_card
@grouped
@pytest.mark.parametrize("count", [4, 64])
def test_on_a_card_groups_give_what_the_loop_gives(count, groups):
    """Without a wait, forward and backward; the expert that no token chose has zeros as its gradient."""
    layer = gated(count, dtype=torch.bfloat16).to("cuda")
    other = copy.deepcopy(layer)
    assert layer.stack()
    values_and_gradients(layer, apply_experts, torch.bfloat16)  # the first call may allocate
    layer.zero_grad()
    torch.cuda.set_sync_debug_mode("error")
    try:
        found = values_and_gradients(layer, apply_experts, torch.bfloat16)
    finally:
        torch.cuda.set_sync_debug_mode("default")
    assert groups and not layer[2].gate.weight.grad.any()
    torch.testing.assert_close(found, values_and_gradients(other, in_a_loop, torch.bfloat16), rtol=2e-2, atol=2e-2)
