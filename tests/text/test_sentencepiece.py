"""SentencePiece files, read without the package: the ids are those of the package and of transformers."""

from __future__ import annotations

import io
import json
import warnings
from pathlib import Path

import pytest
import transformers

from tfkit.text import Tokenizer
from tfkit.text.sentencepiece import LAYOUTS, read

spm = pytest.importorskip(
    "sentencepiece", reason="the package sentencepiece, which trains the test's models, is absent"
)

SAID = "the a cat dog house garden river letter reader writes reads finds loses opens café naïve 12 1984 , . ! ?"
WORDS = SAID.split()
TEXTS = [" ".join(WORDS[(i * k) % len(WORDS)] for k in range(1, 9)) for i in range(1, 200)]
READ = ["the cat reads a letter.", "A dog  opens the café , 1984!", " naïve  Garden ", "unseen ☃ words", ""]
FIRST = {  # what a published file of the architecture has in its first places
    "t5": ["<pad>", "</s>", "<unk>"],
    "albert": ["<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]"],
    "xlnet": ["<unk>", "<s>", "</s>", "<cls>", "<sep>", "<pad>", "<mask>"],
    "deberta-v2": ["[PAD]", "[CLS]", "[SEP]", "[UNK]"],
}
CLASSES = {
    "t5": "T5Tokenizer",
    "albert": "AlbertTokenizer",
    "xlnet": "XLNetTokenizer",
    "deberta-v2": "DebertaV2Tokenizer",
    "xlm-roberta": "XLMRobertaTokenizer",
    "mbart": "MBartTokenizer",
    "llama": "LlamaTokenizer",
}
FILE = {"xlm-roberta": "sentencepiece.bpe.model", "mbart": "sentencepiece.bpe.model", "llama": "tokenizer.model"}
FILE |= {"deberta-v2": "spm.model", "m2m_100": "sentencepiece.bpe.model"}


def learned(kind: str | None, directory: Path) -> Path:
    """A model of the kind that the architecture was published with, and its config.json beside it."""
    first = FIRST.get(kind or "", ["<unk>", "<s>", "</s>"])
    unk = next(name for name in first if "unk" in name.lower())
    bpe = kind in ("llama", "m2m_100")
    others = [name for name in first if name not in (unk, "<s>", "</s>", "<pad>")]
    ids = {job: first.index(name) if name in first else -1 for job, name in
           {"unk": unk, "bos": "<s>", "eos": "</s>", "pad": "<pad>"}.items()}  # fmt: skip
    out = io.BytesIO()
    spm.SentencePieceTrainer.train(
        sentence_iterator=iter(TEXTS), model_writer=out, vocab_size=400 if kind == "llama" else 90, minloglevel=2,
        model_type="bpe" if bpe else "unigram", byte_fallback=kind == "llama", control_symbols=others, unk_piece=unk,
        hard_vocab_limit=False, remove_extra_whitespaces=kind != "llama", **{f"{job}_id": i for job, i in ids.items()},
    )  # fmt: skip
    file = directory / FILE.get(kind or "", "spiece.model")
    file.write_bytes(out.getvalue())
    if kind:
        (directory / "config.json").write_text(json.dumps({"model_type": kind}))
    if kind == "llama":
        (directory / "tokenizer_config.json").write_text(json.dumps({"add_bos_token": True}))
    return file


@pytest.mark.parametrize("kind", CLASSES)
def test_ids_are_those_of_transformers(kind: str, tmp_path: Path) -> None:
    learned(kind, tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = getattr(transformers, CLASSES[kind]).from_pretrained(tmp_path)
    ours = Tokenizer.from_pretrained(tmp_path)
    assert ours.encode(READ[:2]) == [theirs(text)["input_ids"] for text in READ[:2]]
    assert ours.decode(ours.encode(READ[:1])) == READ[:1]
    pairs = ours.batch(READ[:1], READ[1:2])
    assert pairs["input_ids"].tolist() == [theirs(*READ[:2])["input_ids"]]


@pytest.mark.parametrize("kind", [None, "llama"])
def test_pieces_are_those_of_the_package(kind: str | None, tmp_path: Path) -> None:
    file = learned(kind, tmp_path)
    theirs, ours = spm.SentencePieceProcessor(model_file=str(file)), Tokenizer.from_pretrained(tmp_path)
    assert [p.text for p in read(file).pieces] == [theirs.id_to_piece(i) for i in range(len(theirs))]
    texts = [text if kind is None else text.lstrip() for text in READ]  # Llama's: a space at the front counts as two
    assert ours.encode(texts, specials=False) == [theirs.encode(text) for text in texts]


def test_m2m_100_takes_its_ids_from_another_file(tmp_path: Path) -> None:
    model = read(learned("m2m_100", tmp_path))
    names = ["<s>", "<pad>", "</s>", "<unk>", *reversed([piece.text for piece in model.pieces[3:]])]
    (tmp_path / "vocab.json").write_text(json.dumps({name: i for i, name in enumerate(names)}))
    ours = Tokenizer.from_pretrained(tmp_path)
    (row,) = ours.encode(["the cat"])
    assert row[0] == ours.inner.token_to_id("__en__") >= len(names) and row[-1] == 2
    assert "".join(names[i] for i in row[1:-1]) == "▁the▁cat"


def test_a_bad_file_is_refused_in_a_line(tmp_path: Path) -> None:
    file = learned("t5", tmp_path)
    whole = file.read_bytes()
    for bad in (whole[: len(whole) // 2], b"", b"PK\x03\x04 no such thing"):
        file.write_bytes(bad)
        with pytest.raises(ValueError, match="not a SentencePiece model, or damaged"):
            Tokenizer.from_pretrained(tmp_path)
    file.write_bytes(whole)
    (tmp_path / "config.json").write_text('{"model_type": "marian"}')
    with pytest.raises(ValueError, match="the id layout of marian") as refusal:
        Tokenizer.from_pretrained(tmp_path)
    assert all(kind in str(refusal.value) for kind in LAYOUTS)
