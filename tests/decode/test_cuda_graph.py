"""Steps at fixed addresses give the ids of eager decoding, also where a cache moves or is cropped. Without a card a
function that runs the step again stands in for the captured graph."""

import pytest
import torch

import tfkit
from tests.models.table import ROWS, drawn, kind
from tests.models.test_laws import make
from tfkit import registry
from tfkit.decode import Beam, Contrastive, Greedy, Sample, Speculative, cuda_graph
from tfkit.decode.decoders import forward_arguments
from tfkit.nn import StaticCache

HOW = {"max_new_tokens": 12, "end_id": -1, "start_id": 1, "pad_id": 0}
STRATEGIES = [Greedy(), Sample(top_k=5), Beam(3), Contrastive(3)]
need_card = pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device is here")


@pytest.fixture
def captures(monkeypatch):
    """How many graphs were captured, and how many replays there were."""
    seen, real = {"captured": 0, "replayed": 0}, cuda_graph.capture_graph

    def counted(run):
        seen["captured"] += 1
        replay = real(run) if torch.cuda.is_available() else run

        def replayed():
            seen["replayed"] += 1
            return replay()

        return replayed

    monkeypatch.setattr(cuda_graph, "capture_graph", counted)
    return seen


@pytest.fixture
def on_cpu(captures, monkeypatch):
    monkeypatch.setattr("tfkit.decode.compiled.supports_cuda_graph", lambda cache: isinstance(cache, StaticCache))
    return captures


def decoded(model, ids, strategy, compile):
    generator = torch.Generator(ids.device).manual_seed(0)
    return tfkit.generate(model, ids, strategy, generator=generator, compile=compile, **HOW)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("strategy", STRATEGIES, ids=lambda s: s.name)
@pytest.mark.parametrize("name", ["gpt2", "t5"])
def test_steps_at_fixed_addresses_give_the_same_ids(name, strategy, on_cpu):
    model, ids = make(name)[1], drawn(3, 5)
    assert torch.equal(decoded(model, ids, strategy, "eager"), decoded(model, ids, strategy, False))
    if strategy.name in ("greedy", "sample"):  # a prompt, a step, a step at fixed addresses, then replays
        assert on_cpu == {"captured": 1, "replayed": 9}


def test_padded_prompts_and_a_cropped_cache(on_cpu):
    model, ids = make("gpt2")[1], drawn(2, 6)
    mask = torch.tensor([[0, 0, 1, 1, 1, 1], [1] * 6])
    for strategy in (Greedy(), Speculative(make("gpt2", n_layers=1)[1], 2)):
        how = HOW | ({} if isinstance(strategy, Speculative) else {"attention_mask": mask})
        expected, found = (tfkit.generate(model, ids, strategy, compile=c, **how) for c in (False, "eager"))
        assert torch.equal(found, expected) and on_cpu["replayed"]


def test_no_graph_without_a_gpu(captures):
    decoded(make("gpt2")[1], drawn(2, 5), Greedy(), "eager")
    assert not captures["captured"]


# -- with a card: `pytest -m gpu tests/decode/test_cuda_graph.py` -----------------------------------------------------
NOT_CAPTURED = ("mamba2", "reformer-causal", "rnn_seq2seq")  # states have no position, and buckets are sorted
NOT_FROM_IDS = ("rag", "whisper")  # they read passages and audio


def has_steps(name):
    model = registry.load(kind(name)).MODEL
    return kind(name) not in NOT_FROM_IDS and "cache" in forward_arguments(model)


DECODERS = [name for name, row in ROWS.items() if row.causal and has_steps(name)]


@pytest.mark.gpu
@need_card
@pytest.mark.parametrize("name", sorted(DECODERS))
def test_on_a_card_every_architecture_gives_the_ids_of_eager_decoding(name, captures, monkeypatch):
    monkeypatch.setattr(torch.backends.cudnn, "allow_tf32", False)  # cuDNN's recurrent layers would round to TF32
    model, ids = make(name)[1].to("cuda"), drawn(3, 5).to("cuda")
    assert torch.equal(decoded(model, ids, Greedy(), "eager"), decoded(model, ids, Greedy(), False))
    assert bool(captures["replayed"]) == (name not in NOT_CAPTURED)


@pytest.mark.gpu
@need_card
@pytest.mark.parametrize("strategy", STRATEGIES, ids=lambda s: s.name)
@pytest.mark.parametrize("name", ["gpt2", "t5"])
def test_on_a_card_every_strategy_gives_the_ids_of_eager_decoding(name, strategy, captures):
    model, ids = make(name)[1].to("cuda"), drawn(3, 5).to("cuda")
    assert torch.equal(decoded(model, ids, strategy, "eager"), decoded(model, ids, strategy, False))
