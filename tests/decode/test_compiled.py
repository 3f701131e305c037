"""Compiled decoding: the same ids as eager decoding from every strategy, one graph, and errors that say what to do.

That each architecture's step is one graph is a law: tests/models/test_laws.py. Here backends only count graphs; one
slow test runs torch's own compiler.
"""

import shutil

import pytest
import torch
from torch import nn

import tfkit
from tests.models.table import drawn
from tests.models.test_laws import make
from tfkit.decode import Beam, Contrastive, Diverse, Greedy, Sample, Speculative
from tfkit.decode.compiled import round_up_capacity
from tfkit.nn import Attention, StaticCache

HOW = {"max_new_tokens": 8, "end_id": 2, "start_id": 1, "pad_id": 0}


class Counting:
    """A backend that runs graphs eagerly, and counts them."""

    def __init__(self):
        self.graphs = 0

    def __call__(self, graph, inputs):
        self.graphs += 1
        return graph.forward


@pytest.fixture(scope="module")
def gpt2():
    return make("gpt2")[1]


STRATEGIES = [Greedy(), Sample(top_k=5), Beam(3), Diverse(4, groups=2), Contrastive(3)]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("strategy", STRATEGIES, ids=lambda s: s.name)
@pytest.mark.parametrize("name", ["gpt2", "t5"])
def test_every_strategy_gives_what_it_gives_eagerly(name, strategy):
    model, ids, backend = make(name)[1], drawn(3, 5), Counting()
    expected, found = (
        tfkit.generate(model, ids, strategy, generator=torch.Generator().manual_seed(0), compile=compile, **HOW)
        for compile in (False, backend)
    )
    assert torch.equal(found, expected)
    assert backend.graphs == 1


def test_speculation_has_a_graph_for_each_number_of_guesses(gpt2):
    backend = Counting()
    strategy = Speculative(make("gpt2", n_layers=1)[1], 2)
    expected = tfkit.generate(gpt2, drawn(2, 5), strategy, **HOW)
    assert torch.equal(tfkit.generate(gpt2, drawn(2, 5), strategy, compile=backend, **HOW), expected)
    assert backend.graphs <= 5  # 1, 2 or 3 tokens for the model to judge, 1 or 2 for the draft to read


def test_a_longer_run_has_a_graph_of_its_own_from_the_next_power_of_two_on():
    model, backend = make("gpt2", max_length=64)[1], Counting()
    for length, graphs in ((3, 1), (8, 1), (9, 2), (20, 2), (5, 2)):
        tfkit.generate(model, drawn(2, length), compile=backend, **HOW | {"end_id": -1})
        assert backend.graphs == graphs, length
    assert [round_up_capacity(capacity) for capacity in (1, 16, 17, 32, 33)] == [16, 16, 32, 32, 64]


@pytest.mark.slow
def test_many_models_have_a_graph_each():
    backend, ids = Counting(), drawn(2, 5)
    for seed in range(10):  # torch gives a code object up after eight graphs
        model = make("gpt2", n_layers=1)[1]
        nn.init.normal_(model.embed.weight, generator=torch.Generator().manual_seed(seed))
        expected = tfkit.generate(model, ids, **HOW)
        assert torch.equal(tfkit.generate(model, ids, compile=backend, **HOW), expected)
    assert backend.graphs == 10


def test_a_text_ends_with_the_position_table(gpt2):
    ids = drawn(2, 5)
    for compile in (False, "eager"):
        with pytest.warns(UserWarning, match="GPT2 has 24 positions, the prompt 5 tokens; at most 20 new ones follow"):
            found = tfkit.generate(gpt2, ids, compile=compile, **HOW | {"max_new_tokens": 40, "end_id": -1})
        assert found.size(1) == 25  # the last token is not read


NOT_KEYS_ALONE = {  # caches that hold something else than keys and values, or only the latest of them
    "gru, attention before each step": ("rnn_seq2seq", {}),
    "lstm, dot product": ("rnn_seq2seq", {"cell": "lstm", "attention": "dot", "n_layers": 3}),
    "rnn, no attention": ("rnn_seq2seq", {"cell": "rnn", "attention": "none", "n_layers": 2, "bidirectional": False}),
    "memory": ("transformer_xl", {}),
    "memory, normalised first": ("transformer_xl", {"pre_norm": True, "same_length": False, "mem_len": 9}),
    "no memory": ("transformer_xl", {"mem_len": 0, "same_length": False}),
    "chunks of 16": ("reformer-causal", {}),
    "chunks of 4, two rounds": ("reformer-causal", {"lsh_chunk": 4, "n_hashes": 2}),
    "no chunk before": ("reformer-causal", {"lsh_chunk": 4, "lsh_before": 0, "local_before": 0, "n_hashes": 2}),
    "buckets by length": ("reformer-causal", {"lsh_chunk": 4, "n_buckets": None, "axial": False}),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("case", NOT_KEYS_ALONE)
def test_caches_of_other_kinds_give_the_ids_of_eager_decoding(case):
    """From prompts below, at and past the length of a memory or a chunk, until they are longer than it. A step on a
    cache of fixed size is the same with and without a compiler, but for recurrent cells."""
    name, changes = NOT_KEYS_ALONE[case]
    model, lengths = make(name, **changes)[1], (5,) if name == "rnn_seq2seq" else (3, 4, 6, 13)
    how = {"compile": "eager"} if name == "rnn_seq2seq" else {"static_cache": True}
    for strategy in (Greedy(), Beam(3)):
        for length in lengths:
            mask = torch.ones(3, length, dtype=torch.int64)
            mask[1, slice(-1, None) if name == "rnn_seq2seq" else slice(2)] = 0
            given = (model, drawn(3, length), strategy)
            both = {**HOW, "end_id": -1, "max_new_tokens": 14, "attention_mask": mask}
            expected = tfkit.generate(*given, **both)
            assert torch.equal(tfkit.generate(*given, **both, **how), expected), (strategy.name, length)


@pytest.mark.parametrize("name", ["transformer_xl", "reformer-causal"])
def test_guesses_are_taken_back_from_caches_of_other_kinds(name):
    model, draft = (make(name, **({"lsh_chunk": 4} if "reformer" in name else {}))[1] for _ in range(2))
    table = draft.embed.tables[0] if name == "transformer_xl" else draft.embed
    nn.init.normal_(table.weight, std=0.5, generator=torch.Generator().manual_seed(1))
    how = {**HOW, "end_id": -1, "static_cache": True}
    for length in (3, 7):
        expected = tfkit.generate(model, drawn(2, length), **how)
        assert torch.equal(tfkit.generate(model, drawn(2, length), Speculative(draft, 2), **how), expected)


class Bare(nn.Module):
    """A model without a cache, which reads the whole text at each step."""

    def __init__(self, inner):
        super().__init__()
        self.inner, self.config, self.head = inner, inner.config, inner.head

    def forward(self, input_ids, attention_mask=None, position_ids=None):
        return self.inner(input_ids, attention_mask, position_ids)


def test_what_cannot_be_compiled_says_so(gpt2):
    ids = drawn(2, 5)
    with pytest.raises(ValueError, match="Bare has no cache"):
        tfkit.generate(Bare(gpt2), ids, compile=True, **HOW)
    with pytest.raises(ValueError, match="only tfkit's models"):
        tfkit.generate(lambda prefix: torch.zeros(len(prefix), 3), None, compile=True, **HOW)
    with pytest.raises(ValueError, match="compile='quick' is not a torch.compile backend"):
        tfkit.generate(gpt2, ids, compile="quick", **HOW)


def test_the_host_counts_what_a_graph_wrote():
    cache, attention = StaticCache(4), Attention(8, 2, causal=True)
    with torch.no_grad():
        attention(torch.randn(1, 3, 8), cache=cache)
    assert (cache.length, int(cache.past)) == (3, 3)
    cache.advance_length(1)
    assert cache.length == 4
    with pytest.raises(ValueError, match="holds 4 positions, but 5 are needed"):
        cache.advance_length(1)
    assert cache.length == 4


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("g++") is None, reason="torch's compiler for the CPU needs g++")
@pytest.mark.parametrize("name", ["gpt2", "t5"])
def test_torch_s_own_compiler_gives_the_same(name):
    model, ids = make(name)[1], drawn(3, 5)
    how = HOW | {"end_id": -1}
    assert torch.equal(tfkit.generate(model, ids, compile=True, **how), tfkit.generate(model, ids, **how))
