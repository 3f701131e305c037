"""Stop strings end rows where transformers' end."""

from __future__ import annotations

import functools

import pytest
import torch
import transformers
from tokenizers import Tokenizer as Inner
from tokenizers import decoders, models, pre_tokenizers
from transformers.generation.stopping_criteria import StopStringCriteria

import tfkit
from tests.decode.test_parity import END, PAD, V, assert_same, pair, reads_source, sentences
from tfkit.decode import Beam, Greedy, Speculative
from tfkit.decode.stop_strings import StopStrings
from tfkit.text import Tokenizer
from tfkit.text.vocabulary import train

TEXTS = ["the cat sat on the mat.", "a dog, naïvely ☃", "who sat?\nthe dog", "abcdef"] * 9


@functools.cache
def tokenizer(kind):
    if kind != "byte fallback":
        return train(kind, TEXTS, 300 if kind == "byte_bpe" else 60)
    letters = ["<unk>", *(f"<0x{byte:02X}>" for byte in range(256)), "▁", *"abcdehnostuw.,?"]
    merges = [("t", "h"), ("th", "e"), ("▁", "the"), ("a", "t"), ("s", "at")]
    names = [*letters, *("".join(pair) for pair in merges)]
    inner = Inner(models.BPE({name: i for i, name in enumerate(names)}, merges, byte_fallback=True))
    inner.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="never")
    inner.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()])
    return Tokenizer(inner)


def test_a_vocabulary_that_cannot_spell_the_probe_is_read_all_the_same():
    inner = Inner(models.WordLevel({"so": 0, "it": 1, "ends": 2}, "so"))
    inner.decoder = decoders.Fuse()
    assert StopStrings("tend", inner)(torch.tensor([[0, 1], [1, 2], [2, 2]])).tolist() == [False, True, False]


STOPS = [["at"], ["sat", "dog,"], [" the"], ["☃"], ["\n"], ["e c", "?"], ["ï"]]


KINDS = {"byte_bpe": STOPS, "wordpiece": STOPS[:4], "byte fallback": STOPS}  # lines and accents are no part of a word


@pytest.mark.parametrize(("kind", "stops"), [(kind, stops) for kind in KINDS for stops in KINDS[kind]], ids=str)
def test_the_same_tokens_complete_a_string_as_in_transformers(kind, stops):
    own = tokenizer(kind)
    rows = [ids for text in set(TEXTS) for ids in own.encode([text], specials=False)]
    rows = [row[:n] for row in rows for n in range(1, len(row) + 1)]
    drawn = torch.randint(3, len(own), (300, 9), generator=torch.Generator().manual_seed(0)).tolist()
    theirs = transformers.PreTrainedTokenizerFast(tokenizer_object=own.inner)
    criterion = StopStringCriteria(theirs, stops)
    found = [StopStrings(stops, own)(torch.tensor([row])).item() for row in rows + drawn]
    assert found == [criterion(torch.tensor([row]), None).item() for row in rows + drawn]
    assert StopStrings(stops, theirs)(torch.tensor(drawn)).tolist() == found[len(rows) :]
    assert any(found), "no row ends here, so nothing was compared"


@functools.cache
def words():
    """A vocabulary of as many words as the models of `pair` have ids; transformers needs the last of them."""
    names = [*(f"w{i}" if i % 3 else f"w{i}!" for i in range(V - 1)), "abcdef"]
    inner = Inner(models.WordLevel({name: i for i, name in enumerate(names)}, "w1"))
    inner.decoder = decoders.Fuse()
    return Tokenizer(inner)


@pytest.mark.parametrize("strategy", [Greedy(), Beam(3), Beam(4, length_penalty=0.3, early_stopping=True)], ids=str)
@pytest.mark.parametrize("ends", [None, [END]])
@pytest.mark.parametrize("name", ["gpt2", "bart"])
@torch.no_grad()
def test_rows_end_as_in_transformers(name, ends, strategy):
    """The strings are taken from what the model says without them, so that rows end at different places. Without an
    end token transformers goes on writing in rows that have ended, so there is but one."""
    theirs, ours = pair(name)
    ids, mask = (rows if ends else rows[:1] for rows in sentences(name))
    how = dict(attention_mask=mask, max_new_tokens=9, no_repeat_ngram_size=2)
    free = tfkit.generate(ours, ids, strategy, end_id=ends or -1, pad_id=PAD, **how)
    start = 1 if reads_source(name) else ids.size(1)
    stops = [words().inner.id_to_token(int(row[start + n + 2])) for n, row in enumerate(free)]
    search = dict(num_beams=strategy.width)
    if isinstance(strategy, Beam):
        search |= dict(length_penalty=strategy.length_penalty, early_stopping=strategy.early_stopping)
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=words().inner)
    expected = theirs.generate(
        ids, **how, **search, eos_token_id=ends, pad_token_id=PAD, stop_strings=stops, tokenizer=tokenizer
    )
    how |= dict(end_id=ends or -1, pad_id=PAD, stop_strings=stops, tokenizer=words())
    found = tfkit.generate(ours, ids, strategy, **how)
    assert_same(expected.where(expected >= 0, PAD), found)  # -1: transformers' padding where none is named
    assert found.shape != free.shape or not torch.equal(found, free)
    assert torch.equal(tfkit.generate(ours, ids, strategy, compile="eager", **how), found)


def test_speculative_decoding_ends_there_too():
    ours, ids = pair("gpt2")[1], sentences("gpt2")[0]
    how = dict(max_new_tokens=9, end_id=-1, pad_id=PAD, tokenizer=words())
    stops = [words().inner.id_to_token(int(tfkit.generate(ours, ids, **how)[0, ids.size(1) + 2]))]
    expected = tfkit.generate(ours, ids, stop_strings=stops, **how)
    found = tfkit.generate(ours, ids, Speculative(pair("gpt2", 1)[1]), stop_strings=stops, **how)
    assert_same(expected, found)


def test_a_trace_marks_the_end():
    ours, ids = pair("gpt2")[1], sentences("gpt2")[0][:1]
    free = tfkit.generate(ours, ids, max_new_tokens=9, end_id=-1)
    stop = words().inner.id_to_token(int(free[0, ids.size(1) + 2]))
    how = dict(max_new_tokens=9, end_id=-1, stop_strings=stop, tokenizer=words())
    found, steps = tfkit.generate(ours, ids, trace=True, **how)
    assert [bool(step.ended.any()) for step in steps] == [False] * (len(steps) - 1) + [True]
    assert len(steps) == found.size(1) - ids.size(1) < 9


@pytest.mark.parametrize("none", [[], ()])
def test_an_empty_list_names_no_stop_string_and_needs_no_tokenizer(none):
    ours, ids = pair("gpt2")[1], sentences("gpt2")[0]
    how = dict(max_new_tokens=3, end_id=-1, pad_id=PAD)
    assert torch.equal(tfkit.generate(ours, ids, stop_strings=none, **how), tfkit.generate(ours, ids, **how))


@pytest.mark.parametrize(
    ("how", "message"),
    [
        (dict(stop_strings="a"), "give the tokenizer too, tokenizer="),
        (dict(stop_strings="a", tokenizer=5), "tokenizer is of type int: give a tfkit.text.Tokenizer"),
        (dict(stop_strings=[5], tokenizer="words"), r"stop_strings=\[5\]: give a text, or a list of them"),
        (dict(stop_strings=[""], tokenizer="words"), "stop_strings holds an empty text"),
        (dict(stop_strings=""), "stop_strings holds an empty text"),
    ],
)
def test_errors_say_what_to_do(how, message):
    how = {name: words() if value == "words" else value for name, value in how.items()}
    with pytest.raises((TypeError, ValueError), match=message):
        tfkit.generate(pair("gpt2")[1], [[5]], **how)
