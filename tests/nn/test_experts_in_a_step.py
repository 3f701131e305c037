"""Experts in a step of decoding: the same numbers in fixed shapes, so that nothing waits for a GPU. A CPU stands in."""

import copy

import pytest
import torch
from torch import nn

import tfkit
from tests.autograder.pretended import DEVICE, pretended, waiting
from tests.models.table import drawn
from tests.models.test_laws import make
from tfkit.decode import Beam, Greedy
from tfkit.nn import StaticCache, experts
from tfkit.nn.experts import ExpertList, MixtureOfExperts, mix_experts, mix_experts_in_step, route_top_k, stack_experts
from tfkit.nn.feed_forward import GatedFeedForward

ROUTED = ("mixtral", "deepseek_v3", "gpt_oss")
READ = ("nonzero", "tolist", "bincount", "masked_select")  # a host would wait for their results
HOW = {"max_new_tokens": 8, "end_id": -1, "pad_id": 0}


@pytest.fixture
def as_on_a_gpu(monkeypatch):
    monkeypatch.setattr(experts, "host_would_wait", lambda device: True)


def gated(count, width=6):
    torch.manual_seed(0)
    return ExpertList(GatedFeedForward(width, 10) for _ in range(count)).double()


@pytest.mark.parametrize(("tokens", "count", "k"), [(1, 8, 2), (1, 4, 2), (5, 8, 3), (2, 24, 3)])
@torch.no_grad()
def test_fixed_shapes_give_the_same(tokens, count, k):
    """Where few experts are gathered, and where all of them compute."""
    layer, x = gated(count), torch.randn(tokens, 6, dtype=torch.float64)
    weights, chosen = route_top_k(torch.randn(tokens, count, dtype=torch.float64), k)
    expected = mix_experts(x, weights, chosen, list(layer))
    assert layer.stack()
    torch.testing.assert_close(mix_experts_in_step(x, weights, chosen, count, layer.run), expected)


def test_stacked_experts_are_views_and_stay_parameters():
    layer = gated(3)
    before = [p.clone() for p in layer.parameters()]
    held = list(layer.parameters())
    assert layer.stack() and all(p is q for p, q in zip(held, layer.parameters(), strict=True))
    torch.testing.assert_close(list(layer.parameters()), before)
    gate = layer.stacked[0]
    with torch.no_grad():
        layer[1].gate.weight.fill_(7.0)
    assert (gate[1] == 7.0).all()
    assert layer.stack() and layer.stacked[0].data_ptr() == gate.data_ptr()  # they are not moved again


@pytest.mark.parametrize("change", [lambda layer: layer.float(), copy.deepcopy, lambda layer: loaded(layer)])
def test_what_moves_the_parameters_undoes_it(change):
    layer = gated(3)
    layer.stack()
    assert change(layer).stacked is None


def loaded(layer):
    layer.load_state_dict({name: p.clone() for name, p in layer.state_dict().items()}, assign=True)
    return layer


def test_what_cannot_be_stacked_is_left():
    assert not ExpertList([nn.Linear(4, 4), nn.Linear(4, 4)]).stack()
    assert not ExpertList(GatedFeedForward(4, 8, bias=True) for _ in range(2)).stack()
    layer = MixtureOfExperts(4, [nn.Linear(4, 4), nn.Linear(4, 4)], 1)
    assert not stack_experts(layer)  # on a CPU the host waits for nothing
    assert layer(torch.randn(1, 2, 4)).shape == (1, 2, 4)


@pytest.mark.parametrize("name", ROUTED)
def test_a_compiled_step_reads_nothing_and_is_one_graph(name, as_on_a_gpu):
    model, graphs = make(name)[1], []
    expected = {
        (rows, strategy.name): tfkit.generate(copy.deepcopy(model), drawn(rows, 5), strategy, **HOW)
        for rows in (2, 3)
        for strategy in (Greedy(), Beam(2))
    }

    def backend(graph, inputs):
        graphs.append({str(node.target) for node in graph.graph.nodes})
        return graph.forward

    for rows in (2, 3):
        for strategy in (Greedy(), Beam(2)):
            found = tfkit.generate(model, drawn(rows, 5), strategy, compile=backend, **HOW)
            assert torch.equal(found, expected[rows, strategy.name])
    assert len(graphs) == 1, "the second time nothing is compiled"
    assert graphs[0].isdisjoint(READ)
    model.train()(drawn(2, 5), labels=drawn(2, 5)).loss.backward()  # the parameters are ordinary ones still


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", ROUTED)
def test_the_loop_would_have_waited(name):
    """What the test above looks for is there without it."""
    model, found = make(name)[1], set()

    def backend(graph, inputs):
        found.update(str(node.target) for node in graph.graph.nodes)
        return graph.forward

    tfkit.generate(model, drawn(2, 5), compile=backend, **HOW)
    assert "nonzero" in found


@torch.no_grad()
def test_an_eager_step_of_gpt_oss_waits_for_nothing():
    """Its experts are stacked from the start."""
    model, ids = make("gpt_oss", dtype=torch.float32)[1], drawn(2, 5)
    expected = model(ids).logits
    with pretended():
        there, given = model.to(DEVICE), ids.to(DEVICE)
        cache = StaticCache(8)
        there(given[:, :4], cache=cache)
        with waiting() as waits:
            found = there(given[:, 4:], cache=cache).logits
    assert not waits
    torch.testing.assert_close(found.near[:, -1], expected[:, -1], rtol=1e-4, atol=1e-4)
