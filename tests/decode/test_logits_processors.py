"""The settings of `generate` that shape the scores, against transformers' `generate` on the same models."""

from __future__ import annotations

import pytest
import torch
from transformers.generation import logits_process as theirs

import tfkit
from tests.decode.test_parity import END, V, assert_same, both, pair, sentences
from tfkit.decode import Beam, Diverse, Greedy, LogitsProcessors, Sample, Speculative

BIASES = [[[5], -3.0], [[7, 9], 4.0], [[11], 1.5], [[4, 4, 4], -9.0]]
RULES = [
    dict(sequence_bias=BIASES),
    dict(encoder_no_repeat_ngram_size=1),
    dict(encoder_no_repeat_ngram_size=2),
    dict(encoder_repetition_penalty=2.5),
    dict(exponential_decay_length_penalty=(2, 1.6)),
    dict(renormalize_logits=True, suppress_tokens=[4, 5, 6, 7, 8, 9]),
    dict(remove_invalid_values=True, bad_words_ids=[[5], [7]]),
    dict(repetition_penalty=1.3, sequence_bias=BIASES, no_repeat_ngram_size=3, encoder_repetition_penalty=1.5),
]


def without_padding(name):
    """Transformers' processors of the source count its padding as words; here it is none."""
    ids, mask = sentences(name)
    return ids[:1], mask[:1]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("strategy", [Greedy(), Beam(3), Beam(4, length_penalty=0.5)], ids=str)
@pytest.mark.parametrize("rules", RULES, ids=str)
@pytest.mark.parametrize("name", ["gpt2", "bart"])
def test_same_ids_as_transformers(monkeypatch, name, rules, strategy):
    if any("encoder" in rule for rule in rules):
        monkeypatch.setattr("tests.decode.test_parity.sentences", without_padding)
    assert_same(*both(name, strategy, **rules))


SOURCE = torch.randint(0, 6, (2, 8), generator=torch.Generator().manual_seed(1))
TEXT = torch.randint(0, 6, (6, 5), generator=torch.Generator().manual_seed(2))  # three hypotheses of each source
ALONE = {  # a setting -> transformers' class for it alone, over a vocabulary so small that words come again
    "sequence_bias": ([[[1], -3.0], [[2, 0], 4.0], [[3, 1, 4], 0.5]], theirs.SequenceBiasLogitsProcessor),
    "encoder_no_repeat_ngram_size": (2, lambda n: theirs.EncoderNoRepeatNGramLogitsProcessor(n, SOURCE)),
    "encoder_repetition_penalty": (1.7, lambda x: theirs.EncoderRepetitionPenaltyLogitsProcessor(x, SOURCE)),
    "exponential_decay_length_penalty": ((1, 1.6), lambda x: theirs.ExponentialDecayLengthPenalty(x, [4, 5], 2)),
    "renormalize_logits": (True, lambda _: theirs.LogitNormalization()),
    "remove_invalid_values": (True, lambda _: theirs.InfNanRemoveLogitsProcessor()),
}


@pytest.mark.parametrize("name", ALONE)
def test_each_changes_the_scores_as_transformers_class_does(name):
    value, kind = ALONE[name]
    scores = torch.randn(6, 6, generator=torch.Generator().manual_seed(3), dtype=torch.float64)
    scores[0, 5] = torch.nan if name == "remove_invalid_values" else -torch.inf
    bound = LogitsProcessors(**{name: value}).bind(TEXT[:2, :2], 9, [4, 5], SOURCE)
    found, expected = bound(TEXT, scores), kind(value)(TEXT, scores)
    assert not bound.is_noop(TEXT.size(1))
    torch.testing.assert_close(found, expected, rtol=1e-12, atol=0)
    assert not torch.equal(found, scores)


@pytest.mark.parametrize("name", ["gpt2", "bart"])
@pytest.mark.parametrize("strategy", [Greedy(), Beam(3), Diverse(4), Sample(top_k=1)], ids=lambda one: one.name)
def test_settings_of_the_source_are_about_each_row_alone(name, strategy):
    """Also where rows are repeated, and decoded one by one."""
    ids, mask = sentences(name)
    how = dict(max_new_tokens=6, end_id=-1, encoder_no_repeat_ngram_size=2, encoder_repetition_penalty=1.7, pad_id=0)
    together = tfkit.generate(pair(name)[1], ids, strategy, attention_mask=mask, **how)[:, -6:]
    for row, own, new in zip(ids, mask, together, strict=True):
        alone = tfkit.generate(pair(name)[1], row[own.bool()][None], strategy, **how)[:, -6:]
        assert alone[0].tolist() == new.tolist()


def test_speculative_decoding_follows_the_same_settings():
    ours, ids = pair("gpt2")[1], sentences("gpt2")[0][:1].repeat(2, 1)
    ids[1] = ids[1].flip(0)
    how = dict(max_new_tokens=8, end_id=-1, encoder_no_repeat_ngram_size=2, sequence_bias=BIASES)
    found = tfkit.generate(ours, ids, Speculative(pair("gpt2", 1)[1]), **how)
    assert torch.equal(found, tfkit.generate(ours, ids, **how))


@pytest.mark.parametrize("name", ["gpt2", "bart"])
@pytest.mark.parametrize(
    "cuts",
    [dict(min_p=0.2), dict(typical_p=0.6), dict(epsilon_cutoff=0.05), dict(eta_cutoff=0.2),
     dict(temperature=1.7, top_k=20, top_p=0.9, min_p=0.05, typical_p=0.8, renormalize_logits=True)],
    ids=lambda cuts: min(cuts),
)  # fmt: skip
@torch.no_grad()
def test_a_seed_samples_what_transformers_samples_with_it(name, cuts):
    theirs, ours = pair(name)
    ids, mask = sentences(name)
    how = dict(attention_mask=mask, do_sample=True, max_new_tokens=8, eos_token_id=END, pad_token_id=0)
    torch.manual_seed(7)
    expected = theirs.float().generate(ids, **{"top_k": 0, **how, **cuts})
    found = tfkit.generate(ours.float(), ids, seed=7, **{"top_k": 0, **how, **cuts})
    theirs.double(), ours.double()
    assert_same(expected, found)


def test_a_seed_repeats_itself_and_another_does_not():
    ids = sentences("gpt2")[0]
    draw = lambda seed: tfkit.generate(pair("gpt2")[1], ids, do_sample=True, seed=seed, max_new_tokens=8, end_id=-1)
    assert torch.equal(draw(3), draw(3)) and not torch.equal(draw(3), draw(4))
    with pytest.raises(TypeError, match="seed and generator both say"):
        tfkit.generate(pair("gpt2")[1], ids, seed=1, generator=torch.Generator())


@pytest.mark.parametrize("name", ["gpt2", "bart"])
def test_compiled_steps_follow_every_setting(name):
    ids, mask = sentences(name)
    rules = dict(sequence_bias=BIASES, encoder_no_repeat_ngram_size=2, exponential_decay_length_penalty=(2, 1.6))
    for strategy in (Greedy(), Beam(3)):
        how = dict(attention_mask=mask, max_new_tokens=8, end_id=END, pad_id=0, **rules)
        expected = tfkit.generate(pair(name)[1], ids, strategy, **how)
        assert torch.equal(tfkit.generate(pair(name)[1], ids, strategy, compile="eager", **how), expected)


def test_both_forms_of_a_sequence_bias_are_the_same():
    ids = sentences("gpt2")[0]
    how = dict(max_new_tokens=6, end_id=-1)
    as_dict = {tuple(sequence): bias for sequence, bias in BIASES}
    found = [tfkit.generate(pair("gpt2")[1], ids, sequence_bias=form, **how) for form in (BIASES, as_dict)]
    assert torch.equal(*found)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (dict(sequence_bias=5), "sequence_bias=5: give"),
        (dict(sequence_bias=[5]), "sequence_bias holds 5: give ids"),
        (dict(sequence_bias=[[[], 1.0]]), "sequence_bias holds an empty sequence"),
        (dict(sequence_bias=[[[3], "x"]]), r"sequence_bias of \[3\]='x': must be a number"),
        (dict(encoder_no_repeat_ngram_size=-1), "encoder_no_repeat_ngram_size=-1: must be at least 0"),
        (dict(encoder_repetition_penalty=0.0), "encoder_repetition_penalty=0.0: must be above 0"),
        (dict(exponential_decay_length_penalty=3), "exponential_decay_length_penalty=3: must be two numbers"),
        (
            dict(exponential_decay_length_penalty=("a", 1.5)),
            r"exponential_decay_length_penalty\[0\]='a': must be a whole number",
        ),
    ],
)
def test_wrong_settings_are_named(wrong, message):
    with pytest.raises((TypeError, ValueError), match=message):
        LogitsProcessors(**wrong)


def test_an_id_outside_the_vocabulary_is_named():
    with pytest.raises(ValueError, match=f"sequence_bias names {V}, outside the vocabulary"):
        tfkit.generate(pair("gpt2")[1], [[5]], sequence_bias=[[[5, V], 1.0]])
