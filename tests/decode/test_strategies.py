"""Contrastive, diverse and speculative decoding, each compared with a slow implementation."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch
import torch.nn.functional as F

import tfkit
from tests.decode.test_generate import END, PAD, SOURCES, START, ours, plain
from tests.decode.test_search import table_step
from tfkit.decode import Beam, Contrastive, Diverse, Greedy, Sample, Speculative, generate

V = 13
PROMPTS = [[5, 6, 7, 3], [8, 4], [9, 10, 11]]


def causal(name="gpt2", seed=0):
    torch.manual_seed(seed)
    own = {"gpt_neo": {"attention_types": ((("global", "local"), 1),)}, "gptj": {"rotary_dim": 2}}
    fields = own.get(name, {})
    model = tfkit.from_config(
        name, head="causal_lm", vocab_size=V, d_model=16, n_layers=2, n_heads=4, max_length=64, **fields
    )
    for parameter in model.parameters():
        parameter.data += 0.3 * torch.randn_like(parameter)
    return model.eval()


def write(model, ids, choose, limit=7):
    """ids [t] -> grown by `choose(logits [V], states [T,E], ids)`, the whole text read anew each time."""
    for _ in range(limit):
        out = model(ids[None])
        token = choose(out.logits[0, -1], out.last_hidden_state[0], ids)
        ids = torch.cat([ids, torch.tensor([token])])
        if token == END:
            break
    return ids.tolist()


@torch.no_grad()
@pytest.mark.parametrize("name", ["gpt2", "ctrl", "gpt_neo"])
@pytest.mark.parametrize(("size", "alpha"), [(4, 0.6), (1, 0.5), (3, 1.0), (5, 0.0)])
def test_contrastive_is_what_the_paper_says(name, size, alpha):
    model = causal(name)

    def choose(logits, states, ids):
        probs, tokens = logits.softmax(-1).topk(size)
        marks = []
        for p, token in zip(probs, tokens, strict=True):
            new = model(torch.cat([ids, token[None]])[None]).last_hidden_state[0, -1]
            marks.append((1 - alpha) * p - alpha * F.cosine_similarity(new[None], states).max())
        return tokens[torch.stack(marks).argmax()].item()

    found = generate(model, PROMPTS, Contrastive(size, alpha), max_new_tokens=7, end_id=END, pad_id=PAD)
    for row, prompt in zip(found.tolist(), PROMPTS, strict=True):
        alone = write(model, torch.tensor(prompt), choose)
        pad = 4 - len(prompt)
        assert row == [PAD] * pad + alone + [PAD] * (len(row) - pad - len(alone))


def test_contrastive_reads_a_source_too_and_needs_states():
    model = ours()
    how = dict(max_new_tokens=6, start_id=START, end_id=END, pad_id=PAD)
    together = generate(model, SOURCES, Contrastive(3, 0.4), **how)
    for row, source in zip(together.tolist(), SOURCES, strict=True):
        alone = generate(model, source[None], Contrastive(3, 0.4), **how)[0].tolist()
        assert row == alone + [PAD] * (len(row) - len(alone))
    with pytest.raises(TypeError, match="hidden states"):
        generate(plain(), SOURCES, Contrastive(), **how)


@torch.no_grad()
def test_diverse_groups_mind_each_other():
    """Groups of one are greedy, but a token that an earlier group chose in the same step costs `penalty`."""
    model, penalty, groups, limit = causal(), 2.0, 3, 5
    for prompt in PROMPTS:
        texts = [torch.tensor(prompt) for _ in range(groups)]
        totals = [0.0] * groups
        for _ in range(limit):
            taken = torch.zeros(V)
            for g in range(groups):
                scores = model(texts[g][None]).logits[0, -1].log_softmax(-1) - penalty * taken
                token = scores.argmax()
                totals[g] += scores[token].item()
                taken[token] += 1
                texts[g] = torch.cat([texts[g], token[None]])
        strategy = Diverse(groups, groups=groups, penalty=penalty)
        found = generate(model, [prompt], strategy, num_return_sequences=groups, max_new_tokens=limit, end_id=-1)
        expected = [t.tolist() for _, t in sorted(zip(totals, texts, strict=True), key=lambda pair: -pair[0])]
        assert found.tolist() == expected


@pytest.mark.parametrize("model", ["gpt2", "transformer"])
def test_one_group_is_a_beam(model):
    model, given = (causal(), PROMPTS) if model == "gpt2" else (ours(), SOURCES)
    how = dict(max_new_tokens=6, start_id=START, end_id=END, pad_id=PAD, num_return_sequences=2)
    assert torch.equal(generate(model, given, Diverse(4, groups=1), **how), generate(model, given, Beam(4), **how))


def test_a_number_of_beams_may_be_one_of_numpys():
    assert Beam(np.int64(4)) == Beam(4) and type(Beam(np.int64(4)).size) is int
    how = dict(max_new_tokens=3, end_id=END, pad_id=PAD)
    found = generate(causal(), PROMPTS, num_beams=np.int64(4), num_beam_groups=np.int64(2), **how)
    assert torch.equal(found, generate(causal(), PROMPTS, num_beams=4, num_beam_groups=2, **how))


@pytest.mark.parametrize("static", [False, True])
@pytest.mark.parametrize("tokens", [1, 3, 8])
@pytest.mark.parametrize("kind", ["gpt2", "transformer", "step"])
def test_speculation_is_greedy_where_greedy_is_asked_for(kind, tokens, static):
    if kind == "gpt2":
        model, drafts, given = causal(), [causal(seed=1), causal()], PROMPTS
    elif kind == "transformer":
        model, drafts, given = ours(), [ours(seed=1), ours()], SOURCES
    else:
        model, drafts, given = table_step(0), [table_step(1), table_step(0)], None
    how = dict(max_new_tokens=9, start_id=START, end_id=END, pad_id=PAD, static_cache=static and kind != "step")
    for draft in drafts:
        assert torch.equal(generate(model, given, Speculative(draft, tokens), **how), generate(model, given, **how))


@pytest.mark.parametrize("tokens", [1, 2])
def test_speculation_leaves_the_distribution_as_it_is(tokens):
    """Chi-squared test over all texts of two tokens: the distribution is the large model's, not the draft's."""
    model, draft, base, runs = table_step(3), table_step(4), Sample(temperature=1.2, top_p=0.95), 1500
    generator = torch.Generator().manual_seed(0)
    counts: dict = {}
    for _ in range(runs):
        how = dict(start_id=START, end_id=-1, max_new_tokens=2, generator=generator)
        ids = tuple(generate(model, None, Speculative(draft, tokens, base), **how)[0, 1:].tolist())
        counts[ids] = counts.get(ids, 0) + 1
    chance = {}
    for first, second in itertools.product(range(4), repeat=2):
        p = base.probabilities(model(torch.tensor([[START]])))[0, first]
        q = base.probabilities(model(torch.tensor([[START, first]])))[0, second]
        chance[first, second] = (p * q).item()
    assert all(chance[ids] > 0 for ids in counts)
    common = {ids: p * runs for ids, p in chance.items() if p * runs >= 5}
    squared = sum((counts.get(ids, 0) - expected) ** 2 / expected for ids, expected in common.items())
    assert squared < 2.5 * len(common)  # by chance, less than once in a thousand


def test_a_draft_of_another_vocabulary_is_refused():
    small = lambda prefix: torch.zeros(len(prefix), 3)
    with pytest.raises(ValueError, match="the draft's vocabulary has 3 tokens"):
        generate(table_step(0), None, Speculative(small), start_id=START, max_new_tokens=4)
    with pytest.raises(ValueError, match="at least one token"):
        Speculative(small, 0)
    with pytest.raises(TypeError, match="cannot forget"):
        recurrent = ours("rnn_seq2seq", 0)
        generate(recurrent, SOURCES, Speculative(ours("rnn_seq2seq", 1)), max_new_tokens=9, end_id=-1, start_id=START)


@pytest.mark.parametrize("strategy", [Greedy(), Beam(3)], ids=str)
@pytest.mark.parametrize("name", ["gpt2", "gpt_neo", "gptj", "ctrl", "gpt", "transformer"])
def test_static_caches_give_the_same(name, strategy):
    model, given = (ours(), SOURCES) if name == "transformer" else (causal(name), PROMPTS)
    how = dict(max_new_tokens=6, start_id=START, end_id=END, pad_id=PAD)
    grown = generate(model, given, strategy, **how)
    assert torch.equal(generate(model, given, strategy, static_cache=True, **how), grown)


class NoCache(torch.nn.Module):
    """A model without a cache, which reads the whole text at each step."""

    def __init__(self, inner):
        super().__init__()
        self.inner, self.config, self.head = inner, inner.config, inner.head

    def forward(self, input_ids, attention_mask=None, position_ids=None):
        return self.inner(input_ids, attention_mask, position_ids)


@pytest.mark.parametrize(
    "strategy", [Greedy(), Beam(3), Contrastive(3), Speculative(causal(seed=2))], ids=lambda s: s.name
)
def test_models_without_a_cache_still_work(strategy):
    model = causal()
    how = dict(max_new_tokens=6, end_id=END, pad_id=PAD)
    assert torch.equal(generate(NoCache(model), PROMPTS, strategy, **how), generate(model, PROMPTS, strategy, **how))
    with pytest.raises(ValueError, match="no cache"):
        generate(NoCache(model), PROMPTS, static_cache=True, **how)


OTHERS = {  # with caches of their own kinds, or none
    "transformer_xl": dict(cutoffs=[], d_embed=16, n_layers=2, d_head=4, mem_len=32),
    "xlnet": dict(n_layers=2),
    "reformer": dict(layers=["local"] * 2, d_head=4, axial=False, max_length=64),
}
KINDS = [Greedy(), Beam(3), Speculative(causal(seed=2))]


def other(name, **more):
    torch.manual_seed(0)
    fields = OTHERS[name] | more
    head = "masked_lm" if name == "xlnet" else "causal_lm"
    model = tfkit.from_config(name, head=head, vocab_size=V, d_model=16, n_heads=4, d_ff=16, **fields).eval()
    for parameter in model.parameters():
        parameter.data += 0.3 * torch.randn_like(parameter)
    return model


@torch.no_grad()
@pytest.mark.parametrize("name", ["gpt2", "transformer_xl", "reformer"])
def test_moving_what_differs_is_moving_all(name):
    """Rows that read the same prompt change places in a cache from the first word on which they differ."""
    model = causal() if name == "gpt2" else other(name)
    if name == "reformer":
        model = other(name, layers=["lsh", "lsh"], lsh_chunk=4, n_buckets=8, hash_seed=1)
    draw = torch.Generator().manual_seed(0)
    prompt = torch.randint(3, V, (1, 12), generator=draw).expand(3, -1)
    words, order, new = torch.randint(3, V, (9, 3, 1), generator=draw), torch.tensor([2, 0, 0]), prompt[:, :1]

    def after(move):
        cache = model(prompt, use_cache=True).cache
        for word in words:
            model(word, cache=cache, use_cache=True)
        move(cache)
        return model(new, cache=cache, use_cache=True).logits

    moved = after(lambda cache: cache.reorder(order))
    assert torch.equal(after(lambda cache: cache.reorder_from(order, 12)), moved)
    assert not torch.allclose(after(lambda cache: None), moved)


@torch.no_grad()
@pytest.mark.parametrize("strategy", KINDS, ids=lambda s: s.name)
@pytest.mark.parametrize("name", OTHERS)
def test_other_memories(name, strategy):
    """A batch gives the same as single rows, and as reading the whole text at each step."""
    model = other(name)
    how = dict(max_new_tokens=6, end_id=-1, pad_id=PAD)
    given = [prompt[:3] for prompt in (PROMPTS[0], PROMPTS[2])] if name == "reformer" else PROMPTS
    found = generate(model, given, strategy, **how)
    for row, prompt in zip(found.tolist(), given, strict=True):
        alone = generate(model, [prompt], strategy, **how)
        assert row == [PAD] * (len(row) - alone.size(1)) + alone[0].tolist()
        read = model.next_token_logits if name == "xlnet" else lambda ids: model(ids).logits[:, -1]
        slow = torch.tensor([prompt])
        for _ in range(6 if strategy.name != "beam" else 0):
            slow = torch.cat([slow, read(slow).argmax(-1, keepdim=True)], 1)
        assert strategy.name == "beam" or torch.equal(alone, slow)


@pytest.mark.parametrize("strategy", [Greedy(), Beam(3)], ids=str)
def test_prompts_of_unequal_length_are_as_if_alone(strategy):
    model = causal()
    how = dict(max_new_tokens=6, end_id=END, pad_id=PAD)
    ids = torch.tensor([[5, 6, 7, 3], [8, 4, 0, 0], [9, 10, 11, 0]])
    right = generate(model, ids, strategy, attention_mask=(ids != 0).long(), **how)
    listed = generate(model, PROMPTS, strategy, **how)
    assert torch.equal(right, listed)
    assert torch.equal(generate(model, listed[:, :4], strategy, **how), listed)  # padded on the left
    for row, prompt in zip(listed.tolist(), PROMPTS, strict=True):
        alone = generate(model, [prompt], strategy, **how)[0].tolist()
        pad = 4 - len(prompt)
        assert row == [PAD] * pad + alone + [PAD] * (len(row) - pad - len(alone))


def test_prefixes_and_forced_tokens():
    model, code = causal(), 12
    coded = generate(model, PROMPTS, prefix=code, max_new_tokens=3, end_id=-1, pad_id=PAD)
    for row, prompt in zip(coded.tolist(), PROMPTS, strict=True):  # the code first, then padding, then the prompt
        alone = generate(model, [[code, *prompt]], max_new_tokens=3, end_id=-1)[0].tolist()
        assert row == [code] + [PAD] * (4 - len(prompt)) + alone[1:]
    reader = ours()
    how = dict(max_new_tokens=5, start_id=START, end_id=END, pad_id=PAD)
    assert (generate(reader, SOURCES, prefix=[code, 3], **how)[:, :3] == torch.tensor([START, code, 3])).all()
    each = generate(reader, SOURCES, prefix=torch.tensor([[3], [4], [5]]), **how)
    assert each[:, 1].tolist() == [3, 4, 5]
    forced = generate(reader, SOURCES, Beam(2), forced_bos_token_id=code, **how)
    assert (forced[:, 1] == code).all()
    assert generate(reader, SOURCES, max_length=4, start_id=START, end_id=-1).shape == (3, 4)


def test_bad_settings_are_named():
    model = causal()
    with pytest.raises(TypeError, match="'num_rays'"):
        generate(model, PROMPTS, num_rays=4)
    with pytest.raises(ValueError, match="repetition_penalty=0"):
        generate(model, PROMPTS, repetition_penalty=0)
    with pytest.raises(ValueError, match="empty sentence"):
        generate(model, [[3], []])
    with pytest.raises(ValueError, match="input_ids has"):
        generate(model, torch.ones(2, 3, dtype=torch.int64), attention_mask=torch.ones(2, 4))
    with pytest.raises(ValueError, match="a row of padding only"):
        generate(model, torch.tensor([[3, 4], [0, 0]]), pad_id=0, end_id=2)
    for size in ("4", 2.0, True):
        with pytest.raises(TypeError, match=rf"Beam\(size={size!r}\): must be a whole number, at least 1 hypothesis"):
            Beam(size)
    with pytest.raises(ValueError, match=r"Diverse\(size=0\): must be at least 1 hypothesis"):
        Diverse(0)
    with pytest.raises(ValueError, match="num_return_sequences=3"):
        generate(model, PROMPTS, Beam(2), num_return_sequences=3)
    with pytest.raises(ValueError, match="max_length=2: the prompt"):
        generate(model, PROMPTS, max_length=2)
    with pytest.raises(TypeError, match="LM head"):
        generate(tfkit.from_config("bert", vocab_size=V, d_model=16, n_layers=1, n_heads=2, d_ff=16), PROMPTS)
    with pytest.raises(ValueError, match="groups must divide"):
        Diverse(4, groups=3)
    with pytest.raises(ValueError, match="early_stopping"):
        Beam(2, early_stopping="sometimes")
    with pytest.raises(ValueError, match="alpha"):
        Contrastive(4, 2.0)
