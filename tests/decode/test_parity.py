"""The same ids as transformers' `generate` with the same settings, for tiny random models and unequal sentences."""

from __future__ import annotations

import functools
import tempfile

import pytest
import torch
import transformers

import tfkit
from tfkit.decode import Beam, Greedy

V, PAD, END = 61, 60, 2
ENDS = [END, 11, 17, 23, 31, 37, 43]  # so many that some sentences end
SMALL = dict(vocab_size=V, pad_token_id=PAD, eos_token_id=END, bos_token_id=1)
GPT = dict(n_embd=16, n_layer=2, n_head=4, n_positions=64)
BART = dict(
    d_model=16, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=4,
    encoder_ffn_dim=32, decoder_ffn_dim=32, max_position_embeddings=64, decoder_start_token_id=3,
    forced_eos_token_id=None,
)  # fmt: skip
T5 = dict(d_model=16, d_kv=4, d_ff=32, num_layers=2, num_heads=4, decoder_start_token_id=0, tie_word_embeddings=False)
TABLE = {  # name: their class, their configuration's fields
    "gpt2": ("GPT2LMHeadModel", GPT),
    "gpt": ("OpenAIGPTLMHeadModel", GPT),
    "gptj": ("GPTJForCausalLM", dict(n_embd=16, n_layer=2, n_head=2, n_positions=64, rotary_dim=4)),
    "gpt_neo": (
        "GPTNeoForCausalLM",
        dict(hidden_size=16, num_layers=2, num_heads=4, attention_types=[[["global", "local"], 1]], window_size=4,
             max_position_embeddings=64),
    ),
    "ctrl": ("CTRLLMHeadModel", dict(n_embd=16, n_layer=2, n_head=4, dff=32, n_positions=64)),
    "bart": ("BartForConditionalGeneration", BART),
    "t5": ("T5ForConditionalGeneration", T5),
    "mt5": ("MT5ForConditionalGeneration", T5),
    "marian": ("MarianMTModel", BART),
    "mbart": ("MBartForConditionalGeneration", BART),
    "pegasus": ("PegasusForConditionalGeneration", BART),
    "m2m_100": ("M2M100ForConditionalGeneration", BART),
}  # fmt: skip
HERE = [name for name in TABLE if name in tfkit.architectures()]


@functools.cache
def pair(name, seed=0):
    """The models of transformers and tfkit with the same weights, scaled so that no two logits are nearly equal."""
    kind, fields = TABLE[name]
    torch.manual_seed(seed)
    kinds = getattr(transformers, kind)
    theirs = kinds(kinds.config_class(**SMALL | fields))
    for parameter_name, parameter in theirs.named_parameters():
        if not parameter.requires_grad:  # sinusoids stay what they are
            continue
        parameter.data += (2.0 if "positions" in parameter_name else 0.3) * torch.randn_like(parameter)
    theirs = theirs.double().eval()
    with tempfile.TemporaryDirectory() as directory:
        theirs.save_pretrained(directory)
        return theirs, tfkit.from_pretrained(directory).double().eval()


def reads_source(name):
    return "decoder_start_token_id" in TABLE[name][1]


def sentences(name, rows=3, length=7):
    """Sentences of unequal length: prompts padded on the left, sources on the right."""
    ids = torch.randint(4, V - 1, (rows, length), generator=torch.Generator().manual_seed(3))
    short = torch.arange(rows)[:, None] * 2
    place = torch.arange(length)
    mask = place < length - short if reads_source(name) else place >= short
    return ids.masked_fill(~mask, PAD), mask.long()


def both(name, strategy, limit=9, ends=ENDS, **settings):
    """-> their ids, our ids, both [B,T]"""
    theirs, ours = pair(name)
    ids, mask = sentences(name)
    how = dict(num_beams=strategy.width, do_sample=False, num_return_sequences=1, max_new_tokens=limit)
    if isinstance(strategy, Beam):
        how |= dict(length_penalty=strategy.length_penalty, early_stopping=strategy.early_stopping)
    how |= settings
    with torch.no_grad():
        expected = theirs.generate(ids, attention_mask=mask, pad_token_id=PAD, eos_token_id=ends, **how)
    settings |= dict(attention_mask=mask, max_new_tokens=limit, pad_id=PAD, end_id=ends or -1)
    return expected, tfkit.generate(ours, ids, strategy, **settings)


def assert_same(expected, found):
    """The ids are equal, except for the amount of padding at the end."""
    width = max(expected.size(1), found.size(1))
    found, expected = (torch.nn.functional.pad(ids, (0, width - ids.size(1)), value=PAD) for ids in (found, expected))
    assert found.tolist() == expected.tolist()


STRATEGIES = [
    Greedy(),
    Beam(4),
    Beam(3, length_penalty=0.6, early_stopping=True),
    Beam(3, length_penalty=2.0, early_stopping="never"),
]


@pytest.mark.parametrize("strategy", STRATEGIES, ids=str)
@pytest.mark.parametrize("name", HERE)
def test_same_ids(name, strategy):
    # a fresh encoder-decoder likes to say one word for ever
    rules = dict(no_repeat_ngram_size=2) if reads_source(name) else {}
    assert_same(*both(name, strategy, **rules))
    expected, found = both(name, strategy, ends=None, **rules)
    assert_same(expected, found)
    assert found.unique().numel() > 5  # or the comparison would say little


RULES = [
    dict(repetition_penalty=1.7),
    dict(no_repeat_ngram_size=2),
    dict(min_length=9),
    dict(min_new_tokens=5),
    dict(bad_words_ids=[[5], [7, 9], [11]]),
    dict(forced_bos_token_id=6),
    dict(forced_eos_token_id=END),
    dict(suppress_tokens=[4, 5, 6, 7, 8, 9]),
    dict(repetition_penalty=1.3, no_repeat_ngram_size=3, min_length=6, forced_eos_token_id=END),
]


@pytest.mark.parametrize("strategy", [Greedy(), Beam(3)], ids=str)
@pytest.mark.parametrize("rules", RULES, ids=str)
@pytest.mark.parametrize("name", ["gpt2", "bart"])
def test_same_rules(name, rules, strategy):
    assert_same(*both(name, strategy, **rules))


@pytest.mark.parametrize("name", ["gpt2", "t5"])
def test_several_of_a_beam(name):
    assert_same(*both(name, Beam(4), num_return_sequences=3))
