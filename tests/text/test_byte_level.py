"""Vocabularies of byte-level BPE without a tokenizer.json, as transformers reads them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
import transformers as hf
from tokenizers import pre_tokenizers

from tfkit.text.vocabulary import Tokenizer, byte_bpe

TEXTS = ["he saw the <mask> here", "the<mask>", "", "here", " é\n", "<s>he</s><pad>", "he <new> <|endoftext|> he"]
ROBERTA = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
NAMES = ("bos_token", "cls_token", "eos_token", "sep_token", "pad_token", "unk_token", "mask_token")
MASK = {"content": "<mask>", "lstrip": True, "rstrip": False, "single_word": False, "normalized": True}
MAP = dict(zip(NAMES, ("<s>", "<s>", "</s>", "</s>", "<pad>", "<unk>", MASK), strict=True))
OPT = {"bos_token": "</s>", "eos_token": "</s>", "unk_token": "</s>", "pad_token": "<pad>"}
END = {"bos_token": "<|endoftext|>", "eos_token": "<|endoftext|>", "unk_token": "<|endoftext|>"}
KINDS = {
    "roberta": ("RobertaTokenizer", ROBERTA, MAP),
    "bart": ("BartTokenizer", ROBERTA, MAP),
    "longformer": ("LongformerTokenizer", ROBERTA, MAP),
    "gpt2": ("GPT2Tokenizer", ["<|endoftext|>"], END),
    "opt": ("GPT2Tokenizer", ROBERTA[:4], OPT),
}


def write(directory: Path, specials: list[str], **files: dict) -> None:
    """A tiny vocabulary; files: the content of JSON files by their names."""
    model = json.loads(byte_bpe(["he saw here the thing"] * 9, 270, ROBERTA).to_str())["model"]
    vocab = [*specials, *[token for token in model["vocab"] if token not in ROBERTA]]
    merges = [" ".join(merge) for merge in model["merges"]]
    (directory / "merges.txt").write_text("\n".join(["#version: 0.2", *merges, ""]), encoding="utf-8")
    for name, content in {"vocab": {token: i for i, token in enumerate(vocab)}, **files}.items():
        (directory / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")


@pytest.mark.parametrize("kind", KINDS)
def test_read_as_transformers_reads_it(kind: str, tmp_path: Path) -> None:
    name, specials, names = KINDS[kind]
    config = {"tokenizer_class": name} | ({"add_bos_token": True} if kind == "opt" else {})
    files = {"config": {"model_type": kind}, "special_tokens_map": names, "tokenizer_config": config | names}
    write(tmp_path, specials, **files, added_tokens={"<new>": 265 + len(specials)})
    theirs, found = getattr(hf, name).from_pretrained(tmp_path), Tokenizer.from_pretrained(tmp_path)
    assert len(found) == len(theirs) == 266 + len(specials)
    for text in TEXTS:
        assert found.encode([text]) == [theirs(text)["input_ids"]], text
        assert found.inner.encode(text, "here").ids == theirs(text, "here")["input_ids"]
    ids = {role: getattr(theirs, f"{role}_token_id") for role in ("bos", "eos", "pad", "unk", "mask")}
    mine = dict(zip(ids, (found.start_id, found.end_id, found.pad_id, found.unk_id, found.mask_id), strict=True))
    assert {**mine, "pad": ids["pad"]} == ids  # where no token is for padding, GPT-2's end serves here
    found.save_pretrained(tmp_path / "saved")
    assert Tokenizer.from_pretrained(tmp_path / "saved").encode(TEXTS) == found.encode(TEXTS)


CLIP = {"bos_token": "<|startoftext|>", "eos_token": "<|endoftext|>", "unk_token": "<|endoftext|>"}
CLIP |= {"pad_token": "<|endoftext|>"}
CAPTIONS = [
    "A photo of  a\tCAT!",
    "it's 2020",
    "",
    "é Å",
    "<|endoftext|> a <|startoftext|>",
    "日本 a,b",
    "a </w> b",
    "'S",
]


def write_clip(directory: Path) -> None:
    """A tiny vocabulary whose words end in `</w>`, with the files beside it."""
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    merges = ["a t</w>", "c at</w>", "p h", "o t", "ph ot", "phot o</w>", "o f</w>"]
    merged = ["at</w>", "cat</w>", "ph", "ot", "phot", "photo</w>", "of</w>"]
    tokens = [*letters, *(f"{letter}</w>" for letter in letters), *merged, "<|startoftext|>", "<|endoftext|>"]
    (directory / "vocab.json").write_text(json.dumps({token: i for i, token in enumerate(tokens)}), encoding="utf-8")
    (directory / "merges.txt").write_text("\n".join(["#version: 0.2", *merges, ""]), encoding="utf-8")
    for name, content in (("config", {"model_type": "clip"}), ("special_tokens_map", CLIP), ("tokenizer_config", CLIP)):
        (directory / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")


@pytest.mark.parametrize("from_whom", ["two files", "their tokenizer.json", "our tokenizer.json"])
def test_captions_are_read_and_written_as_clip_does(from_whom: str, tmp_path: Path) -> None:
    write_clip(tmp_path)
    theirs, found = hf.CLIPTokenizer.from_pretrained(tmp_path), Tokenizer.from_pretrained(tmp_path)
    if from_whom != "two files":
        (theirs if from_whom.startswith("their") else found).save_pretrained(tmp_path / "saved")
        found = Tokenizer.from_pretrained(tmp_path / "saved")
    assert found.inner.encode("a photo").tokens == ["<|startoftext|>", "a</w>", "photo</w>", "<|endoftext|>"]
    for text in CAPTIONS:
        ids = theirs(text)["input_ids"]
        assert found.encode([text]) == [ids], text
        assert found.decode([ids]) == [theirs.decode(ids, skip_special_tokens=True)], text
        assert found.inner.encode(text, "here").ids == theirs(text, "here")["input_ids"]
    assert (found.start_id, found.end_id, found.pad_id) == (
        theirs.bos_token_id,
        theirs.eos_token_id,
        theirs.pad_token_id,
    )
    lines = found.inner.token_to_id("Ċ"), found.inner.token_to_id("Ġ")  # no text gives them, but a model may
    a, b = (found.inner.token_to_id(f"{letter}</w>") for letter in "ab")
    for ids, text in (([a, *lines, b], "a \n b"), ([*lines, a, *lines], "a"), ([a, lines[0], b], None)):
        assert found.decode([ids]) == [theirs.decode(ids)]
        assert text is None or found.decode([ids]) == [text]
    batch, wanted = found.batch(CAPTIONS[:2]), theirs(CAPTIONS[:2], padding=True, return_tensors="pt")
    assert all(torch.equal(batch[name], wanted[name]) for name in ("input_ids", "attention_mask"))
    cut = theirs(CAPTIONS[:2], max_length=5, truncation=True, return_tensors="pt")["input_ids"]
    assert torch.equal(found.batch(CAPTIONS[:2], length=5)["input_ids"], cut)


def test_the_layout_without_a_config(tmp_path: Path) -> None:
    write(tmp_path, ROBERTA, special_tokens_map=MAP | {"mask_token": "<mask>"})
    found = Tokenizer.from_pretrained(tmp_path)
    assert [found.inner.id_to_token(i) for i in found.encode(["he <mask>"])[0]] == ["<s>", "he", "<mask>", "</s>"]
    assert len(found) == 270 and found.inner.token_to_id("<|endoftext|>") is None
    (tmp_path / "special_tokens_map.json").unlink()
    assert Tokenizer.from_pretrained(tmp_path).inner.encode("he").tokens == ["he"]


@pytest.mark.parametrize("kind", ["ctrl", "openai-gpt", "xlm", "qwen2"])
def test_other_layouts_are_refused(kind: str, tmp_path: Path) -> None:
    write(tmp_path, [], config={"model_type": kind})
    with pytest.raises(
        ValueError, match=rf"{kind} with vocab\.json and merges\.txt is not supported, only with a token"
    ):
        Tokenizer.from_pretrained(tmp_path)


def test_files_that_do_not_belong_together(tmp_path: Path) -> None:
    write(tmp_path, ROBERTA[1:], config={"model_type": "roberta"})
    with pytest.raises(ValueError, match=r"vocab\.json has no cls_token, which its architecture puts around texts"):
        Tokenizer.from_pretrained(tmp_path)
    write(tmp_path, ROBERTA, added_tokens={"<new>": 300})
    with pytest.raises(ValueError, match=r"added_tokens\.json: '<new>' has id 300, but the next free one is 270"):
        Tokenizer.from_pretrained(tmp_path)
