"""A model's own settings, from generation_config.json and from older config.json files: reading, use and writing."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch
import transformers

import tfkit
from tests.decode.test_parity import END, PAD, V, assert_same, pair, reads_source, sentences
from tfkit.decode import Beam, Contrastive, Diverse, Greedy, LogitsProcessors, Sample, Speculative
from tfkit.decode import settings as module
from tfkit.decode.generate import check_generator

NAMES = ["marian", "bart", "t5", "gpt2"]
SETTINGS = {
    "bad words": dict(bad_words_ids=[[5], [7, 9], [PAD]], max_new_tokens=9),
    "a beam": dict(num_beams=4, length_penalty=0.6, early_stopping=True, max_new_tokens=9),
    "several of a beam": dict(num_beams=3, num_return_sequences=2, max_new_tokens=7),
    "no repeats": dict(no_repeat_ngram_size=2, num_beams=2, max_new_tokens=9),
    "a penalty": dict(repetition_penalty=1.4, max_new_tokens=9),
    "lengths": dict(min_length=12, max_length=16, eos_token_id=[END, 11, 17, 23]),
    "forced": dict(forced_bos_token_id=6, forced_eos_token_id=END, max_length=12),
    "suppressed": dict(suppress_tokens=[4, 8, 9], begin_suppress_tokens=[5, 6, 7, 41], max_new_tokens=8),
}


def saved(name, tmp_path, **settings):
    """A published model whose generation_config.json says this -> transformers' and tfkit's."""
    theirs, _ = pair(name)
    theirs.generation_config = transformers.GenerationConfig(
        pad_token_id=PAD, decoder_start_token_id=theirs.config.to_dict().get("decoder_start_token_id"),
        **{"eos_token_id": END, "bos_token_id": 1} | settings,
    )  # fmt: skip
    theirs.save_pretrained(tmp_path)
    return theirs, tfkit.from_pretrained(tmp_path, dtype=torch.float64)


@pytest.fixture(autouse=True)
def as_before():
    kept = {name: pair(name)[0].generation_config for name in NAMES}
    yield
    for name in NAMES:
        pair(name)[0].generation_config = kept[name]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("name", NAMES)
@torch.no_grad()
def test_a_models_own_settings_are_followed_as_transformers_does(name, settings, tmp_path):
    theirs, ours = saved(name, tmp_path / "theirs", **SETTINGS[settings])
    ids, mask = sentences(name)
    expected = theirs.generate(ids, attention_mask=mask)
    assert_same(expected, tfkit.generate(ours, ids, attention_mask=mask))
    ours.save_pretrained(tmp_path / "ours")  # and by both from what we write
    again = tfkit.from_pretrained(tmp_path / "ours", dtype=torch.float64)
    assert_same(expected, tfkit.generate(again, ids, attention_mask=mask))
    back = type(theirs).from_pretrained(tmp_path / "ours", dtype=torch.float64)
    assert_same(expected, back.generate(ids, attention_mask=mask))


@pytest.mark.parametrize("name", ["marian", "gpt2"])
@torch.no_grad()
def test_what_an_older_config_says_counts_where_there_is_no_file_of_its_own(name, tmp_path):
    settings = dict(num_beams=3, length_penalty=2.0, bad_words_ids=[[5], [7, 9]], no_repeat_ngram_size=2, max_length=15)
    theirs, _ = saved(name, tmp_path, **settings)
    ids, mask = sentences(name)
    expected = theirs.generate(ids, attention_mask=mask)
    (tmp_path / module.FILE).unlink()
    config = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps(config | settings))
    ours = tfkit.from_pretrained(tmp_path, dtype=torch.float64)
    assert_same(expected, tfkit.generate(ours, ids, attention_mask=mask))
    assert ours.generation_config["num_beams"] == 3


@torch.no_grad()
def test_what_is_given_wins(tmp_path):
    settings = dict(num_beams=3, bad_words_ids=[[5]], max_length=12, forced_eos_token_id=END, repetition_penalty=1.5)
    theirs, ours = saved("bart", tmp_path, **settings)
    ids, mask = sentences("bart")
    given = dict(num_beams=1, bad_words_ids=[[9]], max_new_tokens=5, repetition_penalty=1.1)
    expected = theirs.generate(ids, attention_mask=mask, **given)
    assert_same(expected, tfkit.generate(ours, ids, attention_mask=mask, **given))
    given.pop("num_beams")
    assert_same(expected, tfkit.generate(ours, ids, Greedy(), attention_mask=mask, **given))
    assert tfkit.generate(ours, ids, Beam(2), attention_mask=mask, num_return_sequences=2).size(0) == 2 * len(ids)


@torch.no_grad()
def test_special_tokens_and_both_limits_as_in_a_call_of_transformers():
    """Under its names; max_new_tokens counts where max_length is given too."""
    theirs, ours = pair("gpt2")
    ids, mask = sentences("gpt2")
    given = dict(attention_mask=mask, max_new_tokens=3, max_length=ids.size(1) + 1, eos_token_id=END, pad_token_id=PAD)
    assert_same(theirs.generate(ids, **given, do_sample=False), tfkit.generate(ours, ids, **given))
    assert tfkit.generate(ours, ids, **given | {"eos_token_id": -1}).size(1) == ids.size(1) + 3


@pytest.mark.parametrize("name", ["gpt2", "bart"])
def test_a_sentence_is_sampled_as_often_as_asked(name):
    """The copies of a row side by side, each drawn for itself."""
    ours = pair(name)[1]
    ids, mask = sentences(name)
    how = dict(attention_mask=mask, max_new_tokens=6, end_id=-1)

    def generator():
        return torch.Generator().manual_seed(0)

    found = tfkit.generate(ours, ids, do_sample=True, num_return_sequences=3, generator=generator(), **how)
    many = dict(attention_mask=mask.repeat_interleave(3, 0), generator=generator())
    expected = tfkit.generate(ours, ids.repeat_interleave(3, 0), do_sample=True, **how | many)
    assert torch.equal(found, expected) and len(found) == 3 * len(ids)
    assert len({tuple(row.tolist()) for row in found}) > len(ids)


def test_contrastive_search_takes_no_more_candidates_than_there_are_words():
    ours = pair("gpt2")[1]
    ids, mask = sentences("gpt2")
    how = dict(attention_mask=mask, penalty_alpha=0.6, max_new_tokens=2)
    assert torch.equal(tfkit.generate(ours, ids, top_k=V + 9, **how), tfkit.generate(ours, ids, top_k=V, **how))


def test_the_settings_describe_a_strategy():
    made = module.strategy_of
    assert made({}) == made({"num_beams": 1, "top_k": 5, "temperature": 0.5}) == Greedy()
    assert made({"num_beams": 4, "length_penalty": 2.0, "early_stopping": "never"}) == Beam(4, 2.0, "never")
    assert made({"num_beams": 4, "num_beam_groups": 2, "diversity_penalty": 0.3}) == Diverse(4, groups=2, penalty=0.3)
    assert made({"do_sample": True, "top_p": 0.9}) == Sample(top_k=50, top_p=0.9)
    assert made({"do_sample": True, "top_k": 0}) == Sample(top_p=1.0)
    assert made({"penalty_alpha": 0.6, "top_k": 4}) == Contrastive(4, 0.6)
    with pytest.raises(ValueError, match="num_beams=4 and do_sample=True"):
        made({"num_beams": 4, "do_sample": True})


def test_a_setting_that_cannot_be_followed_is_refused(tmp_path):
    saved("gpt2", tmp_path)
    (tmp_path / module.FILE).write_text('{"top_h": 0.5, "max_new_tokens": 1}')
    ours = tfkit.from_pretrained(tmp_path)
    with pytest.raises(ValueError, match=r"top_h=0\.5, of the model's generation settings, is not implemented: set it"):
        tfkit.generate(ours, [[5, 6]])
    ours.generation_config["top_h"] = None
    assert tfkit.generate(ours, [[5, 6]]).size(1) == 3


def test_a_setting_that_transformers_has_given_up_is_named(tmp_path):
    saved("gpt2", tmp_path)
    (tmp_path / module.FILE).write_text('{"forced_decoder_ids": [[1, 5]], "max_new_tokens": 1}')
    with pytest.warns(UserWarning, match="forced_decoder_ids=.* is ignored, as by transformers"):
        tfkit.generate(tfkit.from_pretrained(tmp_path), [[5, 6]])


CHANGE_NOTHING = {  # fields of GenerationConfig that say how the result is found or returned, not what it is
    "use_cache", "cache_implementation", "cache_config", "max_cache_len", "output_attentions", "output_hidden_states",
    "output_scores", "output_logits", "return_dict_in_generate", "is_assistant", "num_assistant_tokens",
    "num_assistant_tokens_schedule", "assistant_confidence_threshold", "prompt_lookup_num_tokens", "use_mtp",
    "max_matching_ngram_size", "assistant_early_exit", "assistant_lookbehind", "target_lookbehind",
    "assistant_ensemble_weight", "speculation_type", "compile_config", "disable_compile", "low_memory",
    "continuous_batching_config", "prefill_chunk_size", "_from_model_config", "transformers_version",
}  # fmt: skip


def test_every_field_of_a_published_file_is_followed_or_refused():
    fields = set(vars(transformers.GenerationConfig())) - CHANGE_NOTHING
    assert fields - {*module.OF_FILES, *module.IDS} == set()


def test_a_setting_without_effect_is_named_as_transformers_names_it(recwarn):
    ours, how = pair("gpt2")[1], dict(max_new_tokens=1)
    with pytest.warns(UserWarning, match=r"temperature=0\.7, top_p=0\.9: no effect without do_sample=True"):
        tfkit.generate(ours, [[5, 6]], temperature=0.7, top_p=0.9, **how)
    with pytest.warns(UserWarning, match=r"length_penalty=2\.0: no effect without num_beams above 1"):
        tfkit.generate(ours, [[5, 6]], num_beams=1, length_penalty=2.0, **how)
    recwarn.clear()
    tfkit.generate(ours, [[5, 6]], temperature=1.0, top_k=50, min_p=None, length_penalty=2.0, **how)
    tfkit.generate(ours, [[5, 6]], penalty_alpha=0.6, top_k=4, **how)
    tfkit.generate(ours, [[5, 6]], do_sample=True, temperature=0.7, **how)
    assert [str(warning.message) for warning in recwarn] == []


def test_a_files_own_settings_without_effect_are_no_news(tmp_path, recwarn):
    _, ours = saved("gpt2", tmp_path, temperature=0.6, top_p=0.9, do_sample=True, max_new_tokens=1)
    tfkit.generate(ours, [[5, 6]], do_sample=False)
    assert [str(warning.message) for warning in recwarn if "no effect" in str(warning.message)] == []


@pytest.mark.parametrize("name", ["gpt2", "bart", "opt", "roberta", "prophetnet", "llama", "t5"])
def test_without_a_number_of_new_tokens_the_text_fits_the_model(name, recwarn):
    """transformers' default is 20 new tokens, here it is 64: both stop at the last position."""
    sizes = dict(vocab_size=V, d_model=16, n_layers=1, n_heads=2, d_ff=32)
    sizes |= {} if name == "t5" else {"max_length": 32}
    sizes |= dict(n_kv_heads=1) if name == "llama" else dict(is_decoder=True) if name == "roberta" else {}
    head = "seq2seq_lm" if name in ("bart", "t5", "prophetnet") else "causal_lm"
    model = tfkit.from_config(name, head=head, **sizes).eval()
    how = {"end_id": -1} | ({"start_id": 3} if head == "seq2seq_lm" else {})
    ids = torch.randint(3, V, (2, 7), generator=torch.Generator().manual_seed(0))
    found = tfkit.generate(model, ids, **how)
    start = 1 if head == "seq2seq_lm" else 7
    assert found.size(1) == (start + 64 if name in ("llama", "t5") else model.position_limit)
    assert [str(warning.message) for warning in recwarn] == []
    if name in ("llama", "t5"):
        return
    with pytest.warns(UserWarning, match=r"max_new_tokens=99: \w+ has \d+ positions, the prompt \d tokens; at most"):
        assert tfkit.generate(model, ids, max_new_tokens=99, **how).size(1) == model.position_limit + 1


def test_a_prompt_longer_than_the_model_is_refused_at_once():
    ours = pair("gpt2")[1]
    assert tfkit.generate(ours, torch.full((1, 64), 5), end_id=-1).size(1) == 65
    for more in ({}, {"max_new_tokens": 3}, {"compile": "eager"}):
        with pytest.raises(ValueError, match="the prompt has 65 tokens, GPT2 reads at most 64: shorten it"):
            tfkit.generate(ours, torch.full((1, 65), 5), **more)


@pytest.mark.parametrize(
    ("text", "message"),
    [("{", "not JSON"), ("[1]", "holds list"), ('{"repetition_penalty": 0}', "repetition_penalty=0"),
     ('{"num_beams": "x"}', "generation_config.json: "),
     ('{"do_sample": "no"}', "do_sample='no': must be True or False"),
     ('{"do_sample": "no", "num_beams": 4}', "do_sample='no': must be True or False"),
     ('{"bad_words_ids": ""}', "bad_words_ids='': pass a list")],
)  # fmt: skip
def test_a_damaged_file_is_named(tmp_path, text, message):
    saved("gpt2", tmp_path)
    (tmp_path / module.FILE).write_text(text)
    with pytest.raises(ValueError, match=message) as error:
        tfkit.from_pretrained(tmp_path)
    assert "generation_config.json" in str(error.value) and "\n" not in str(error.value)


RULES = [dict(repetition_penalty=2.0), dict(no_repeat_ngram_size=2), dict(bad_words_ids=[[PAD, 9], [9, 9]])]
PROMPTS = [[5], [9, 9, 9, 4], [7, 8, 9, 7, 8, 9, 7], [41, 30]]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("strategy", [Greedy(), Beam(3), Contrastive(3), "speculative"], ids=str)
@pytest.mark.parametrize("rules", RULES, ids=str)
@pytest.mark.parametrize("name", ["gpt2", "gptj"])
def test_padding_is_never_said(name, rules, strategy):
    """No row depends on the others in its batch, even with a prefix before padding, or with padding as the end id."""
    _, ours = pair(name)
    strategy = Speculative(pair(name, 1)[1]) if strategy == "speculative" else strategy
    for pad, prefix in ((4, None), (END, 33)):
        how = dict(pad_id=pad, max_new_tokens=7, end_id=END, prefix=prefix, **rules)
        together = tfkit.generate(ours, PROMPTS, strategy, **how)
        longest = max(map(len, PROMPTS))
        for row, prompt in zip(together, PROMPTS, strict=True):
            alone = tfkit.generate(ours, [prompt], strategy, **how)[0].tolist()
            start = 0 if prefix is None else 1
            found = row[start + longest :].tolist()
            expected = alone[start + len(prompt) :]
            width = max(len(found), len(expected))
            assert found + [pad] * (width - len(found)) == expected + [pad] * (width - len(expected))


@pytest.mark.parametrize("name", ["bart", "gpt2"])
@pytest.mark.parametrize(("limit", "size"), [(1, 3), (2, 4), (3, 3)])
def test_no_hypothesis_of_a_beam_breaks_a_forced_token(name, limit, size):
    """At a limit of one token only one continuation is valid, but the beam returned others too."""
    _, ours = pair(name)
    ids, mask = sentences(name)
    for rule in (
        (dict(forced_eos_token_id=8), dict(forced_bos_token_id=6))
        if reads_source(name)
        else (dict(forced_eos_token_id=8),)
    ):
        for strategy in (Beam(size), Diverse(size * 2, groups=2)):
            how = dict(attention_mask=mask, max_new_tokens=limit, num_return_sequences=size, end_id=8, **rule)
            new = tfkit.generate(ours, ids, strategy, **how)[:, -limit:]
            if "forced_bos_token_id" in rule:
                assert (new[:, 0] == 6).all()
            else:
                assert ((new == 8).sum(1) >= 1).all()


BAD = [
    (dict(strategy="beam"), "strategy='beam': give an instance"),
    (dict(strategy=Beam), "strategy=Beam: give an instance"),
    (dict(strategy=Beam(2), num_beams=3), "num_beams describes a search"),
    (dict(input_ids=[]), "input_ids is empty: give at least one row"),
    (dict(input_ids=["hello"]), "holds text"),
    (dict(input_ids="hello"), "holds text"),
    (dict(input_ids=[5, 6]), r"write \[ids\]"),
    (dict(input_ids=[[5.5]]), "must be integers"),
    (dict(input_ids=torch.ones(2, 3)), "must be integers"),
    (dict(input_ids=torch.ones(3, dtype=torch.int64)), r"integers \[B,L\]"),
    (dict(end_id=V), f"end_id names {V}, outside the vocabulary: ids go from 0 to {V - 1}"),
    (dict(end_id=[2, 99]), "end_id names 99"),
    (dict(pad_id=500), "pad_id names 500"),
    (dict(start_id=500), "start_id names 500"),
    (dict(max_new_tokens=-3), "max_new_tokens=-3: must not be negative"),
    (dict(bad_words_ids=5), "bad_words_ids=5: pass a list of words, each a list of ids"),
    (dict(bad_words_ids=[5]), r"bad_words_ids=\[5\]: pass"),
    (dict(bad_words_ids=""), "bad_words_ids='': pass"),
    (dict(bad_words_ids="no"), "bad_words_ids='no': pass"),
    (dict(bad_words_ids=["no"]), r"bad_words_ids=\['no'\]: pass"),
    (dict(bad_words_ids=[["no"]]), r"bad_words_ids=\[\['no'\]\]: pass"),
    (dict(bad_words_ids=[b"ab"]), r"bad_words_ids=\[b'ab'\]: pass"),
    (dict(bad_words_ids={}), r"bad_words_ids=\{\}: pass"),
    (dict(bad_words_ids=[{5}]), r"bad_words_ids=\[\{5\}\]: pass"),
    (dict(bad_words_ids=[[None]]), r"bad_words_ids=\[\[None\]\]: pass"),
    (dict(bad_words_ids=[[True]]), r"bad_words_ids=\[\[True\]\]: pass"),
    (dict(bad_words_ids=[[1.5]]), r"bad_words_ids=\[\[1\.5\]\]: pass"),
    (dict(bad_words_ids=[[5.0]]), r"bad_words_ids=\[\[5\.0\]\]: pass"),
    (dict(bad_words_ids=torch.tensor([5])), r"bad_words_ids=tensor\(\[5\]\): pass"),
    (dict(bad_words_ids=torch.tensor([[1.5], [2.0]])), r"bad_words_ids=tensor\(\[\[1\.5.*: pass"),
    (dict(bad_words_ids=[[]]), "bad_words_ids holds an empty word: each is a list of at least one id"),
    (dict(bad_words_ids=torch.tensor([[99, 5]])), "bad_words_ids names 99"),
    (dict(num_beams=0), "num_beams=0: must be at least 1"),
    (dict(num_beams="4"), "num_beams='4': must be a whole number"),
    (dict(num_beams=4, num_beam_groups="2"), "num_beam_groups='2': must be a whole number"),
    (dict(do_sample="no"), "do_sample='no': must be True or False"),
    (dict(do_sample=True, seed=2**64), f"seed={2**64}: must be below 2\\*\\*64"),
    (dict(forced_eos_token_id=99), f"forced_eos_token_id names 99, outside the vocabulary: ids go from 0 to {V - 1}"),
    (dict(bad_words_ids=[[3], [99]]), "bad_words_ids names 99"),
    (dict(suppress_tokens=[99]), "suppress_tokens names 99"),
    (dict(suppress_tokens=[-1]), "suppress_tokens names -1, outside the vocabulary"),
    (dict(bad_words_ids=[[-3]]), "bad_words_ids names -3"),
    (dict(forced_eos_token_id=-1), "forced_eos_token_id names -1"),
    (dict(eos_token_id=3, end_id=3), "eos_token_id and end_id are the same token"),
    (dict(num_return_sequences=2), "num_return_sequences=2: must be from 1 to 1"),
    (dict(do_sample=True, num_return_sequences=0), "num_return_sequences=0"),
]


@pytest.mark.parametrize(("given", "message"), BAD, ids=[str(given) for given, _ in BAD])
@pytest.mark.parametrize("name", ["gpt2", "bart"])
def test_bad_calls_are_errors_of_one_line(name, given, message):
    with pytest.raises((TypeError, ValueError), match=message) as error:
        tfkit.generate(pair(name)[1], **{"input_ids": [[5, 6, 7]], "max_new_tokens": 2} | given)
    assert "\n" not in str(error.value)


def test_arrays_and_lists_are_ids_too():
    _, ours = pair("gpt2")
    ids, mask = sentences("gpt2")
    expected = tfkit.generate(ours, ids, attention_mask=mask, max_new_tokens=3, pad_id=PAD)
    for kind in (np.asarray, torch.Tensor.tolist):
        found = tfkit.generate(ours, kind(ids), attention_mask=kind(mask), max_new_tokens=3, pad_id=PAD)
        assert torch.equal(found, expected)


def test_words_may_be_arrays_and_are_kept_as_plain_lists():
    _, ours = pair("gpt2")
    plain, how = [[5, 1], [7, 9]], dict(max_new_tokens=4, end_id=-1)
    first = tfkit.generate(ours, [[5, 6]], max_new_tokens=1, end_id=-1)[0, -1:]
    assert tfkit.generate(ours, [[5, 6]], bad_words_ids=first[None], max_new_tokens=1, end_id=-1)[0, -1] != first
    expected = tfkit.generate(ours, [[5, 6]], bad_words_ids=plain, **how)
    mixed = (torch.tensor([5, 1]), (np.int64(7), 9))
    for given in (torch.tensor(plain), np.array(plain), mixed):
        kept = LogitsProcessors(bad_words_ids=given).bad_words_ids
        assert kept == plain and all(type(token) is int for word in kept for token in word)
        assert torch.equal(tfkit.generate(ours, [[5, 6]], bad_words_ids=given, **how), expected)


def test_words_that_can_be_read_only_once_are_refused():
    """A check that read them left none to forbid."""
    for given in (iter([[5]]), [iter([5])]):
        with pytest.raises(TypeError, match="list_iterator object at .*: pass a list of words, each a list of ids"):
            tfkit.generate(pair("gpt2")[1], [[5, 6]], bad_words_ids=given, max_new_tokens=1)


def test_a_default_end_of_a_larger_vocabulary_counts_as_none():
    """A tiny GPT-2's default end id is 50256, which is outside its vocabulary: prompts were padded with it."""
    model = tfkit.from_config(
        "gpt2", "causal_lm", vocab_size=41, d_model=8, n_layers=1, n_heads=2, max_length=16
    ).eval()
    assert tfkit.generate(model, [[3, 4, 5], [6]], max_new_tokens=2, min_length=5).shape == (2, 5)


def test_a_generator_of_another_device_is_named():
    check_generator(torch.Generator(), torch.device("cpu"))
    with pytest.raises(ValueError, match=r'is one for cpu, the ids are on cuda: give torch.Generator\("cuda"\)'):
        check_generator(torch.Generator(), torch.device("cuda"))
