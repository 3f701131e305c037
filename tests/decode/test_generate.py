"""`generate`: batches, caches and strategies against the by-hand searches."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import tfkit
from tfkit.decode import Beam, Greedy, Sample, beam_search, generate, greedy_decode
from tfkit.nn import Seq2SeqTransformer

V, PAD, START, END = 13, 0, 1, 2
SOURCES = torch.tensor([[5, 6, 7, 2], [8, 2, 0, 0], [9, 10, 2, 0]])


def plain(seed=0):
    torch.manual_seed(seed)
    model = Seq2SeqTransformer(V, V, 16, 4, 32, 2, PAD).eval()
    model.out_proj.weight.data.mul_(3)  # surer of itself, so that ends and ties are no accident
    return model


def ours(name="transformer", seed=0, **fields):
    torch.manual_seed(seed)
    small = dict(d_model=16, n_layers=2, n_heads=4, d_ff=32) if name == "transformer" else dict(d_embed=8, d_hidden=8)
    return tfkit.from_config(name, head="seq2seq_lm", vocab_size=V, **small, **fields).eval()


def step_of(model, src):
    """A step function that reads the whole prefix each time, without a cache."""

    @torch.no_grad()
    def step(prefix):
        sources = src.expand(len(prefix), -1)
        if isinstance(model, Seq2SeqTransformer):
            return model.decode(prefix, model.encode(sources), sources)[:, -1]
        return model(sources, sources != PAD, prefix).logits[:, -1]

    return step


MODELS = {
    "by hand": plain,
    "transformer": lambda seed=0: ours(seed=seed),
    "rnn": lambda seed=0: ours("rnn_seq2seq", seed, attention="none"),
    "rnn with attention": lambda seed=0: ours("rnn_seq2seq", seed, attention="bahdanau"),
}
HOW = dict(max_new_tokens=6, start_id=START, end_id=END, pad_id=PAD)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_cached_batched_greedy_equals_one_sentence_without_a_cache(name, seed):
    model = MODELS[name](seed)
    together = generate(model, SOURCES, Greedy(), **HOW)
    for row, src in zip(together, SOURCES, strict=True):
        alone = greedy_decode(step_of(model, src[None]), torch.tensor([START]), END, 6, PAD)[0].tolist()
        assert row.tolist() == alone + [PAD] * (len(row) - len(alone))


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize(("seed", "size", "penalty"), [(0, 3, 1.0), (1, 2, 0.0), (2, 5, 0.6)])
def test_cached_batched_beam_equals_one_sentence_without_a_cache(name, seed, size, penalty):
    model = MODELS[name](seed)
    together = generate(model, SOURCES, Beam(size, length_penalty=penalty), **HOW)
    for row, src in zip(together, SOURCES, strict=True):
        best, _ = beam_search(step_of(model, src[None]), START, END, size, 6, penalty)[0]
        assert row.tolist() == best + [PAD] * (len(row) - len(best))


def test_a_beam_of_one_is_greedy():
    model = ours(seed=3)
    assert torch.equal(generate(model, SOURCES, Beam(1), **HOW), generate(model, SOURCES, Greedy(), **HOW))


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 1000), k=st.integers(1, 4))
def test_samples_stay_inside_the_cut_and_repeat_with_the_seed(seed, k):
    model = plain()
    draw = lambda: generate(
        model, SOURCES, Sample(1.3, top_k=k), trace=True, generator=torch.Generator().manual_seed(seed), **HOW
    )
    (ids, steps), (again, _) = draw(), draw()
    assert torch.equal(ids, again)
    for step in steps:
        rank = (step.log_probs[:, 0] > step.log_probs[:, 0].gather(1, step.token)).sum(-1)
        assert (rank < k).all()


def test_samples_follow_the_distribution():
    logits = torch.log(torch.tensor([0.05, 0.05, 0.2, 0.7]))
    step = lambda prefix: logits.expand(len(prefix), 4)
    generator = torch.Generator().manual_seed(0)
    draws = [
        generate(step, None, Sample(top_p=0.85), start_id=0, max_new_tokens=1, generator=generator)[0, 1].item()
        for _ in range(400)
    ]
    assert set(draws) == {2, 3}
    assert draws.count(3) / 400 == pytest.approx(7 / 9, abs=0.08)


def test_the_model_s_mode_comes_back_and_dropout_is_off():
    model = ours(dropout=0.5).train()
    first, second = generate(model, SOURCES, **HOW), generate(model, SOURCES, **HOW)
    assert model.training and torch.equal(first, second)


def test_errors_say_what_to_do():
    with pytest.raises(ValueError, match="start_id"):
        generate(plain(), SOURCES)
    with pytest.raises(TypeError, match="source"):
        generate(plain(), None, **HOW)
    with pytest.raises(TypeError, match="encode"):
        generate(torch.nn.Linear(2, 2), SOURCES, **HOW)
    with pytest.raises(ValueError, match="temperature"):
        Sample(temperature=0.0)
    with pytest.raises(ValueError, match="at least 1 hypothesis"):
        Beam(0)
