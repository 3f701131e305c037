"""Tokenizers of four kinds, trained here or read from published vocabularies: a thin layer over `tokenizers`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import torch
from tokenizers import Encoding, decoders, models, normalizers, pre_tokenizers, processors, trainers
from tokenizers import Tokenizer as Inner
from torch import Tensor

from tfkit.text import byte_level, sentencepiece
from tfkit.text.sentencepiece import read_optional_json

FILE, SETTINGS, TEMPLATE = "tokenizer.json", "tokenizer_config.json", "chat_template.jinja"
# the names that published vocabularies give to the special token of each role
NAMES = {
    "pad": ("<pad>", "[PAD]", "<|endoftext|>"),
    "start": ("<s>", "[CLS]", "<|startoftext|>", "<|endoftext|>"),
    "end": ("</s>", "[SEP]", "<|endoftext|>"),
    "unk": ("<unk>", "[UNK]", "<|endoftext|>"),
    "mask": ("<mask>", "[MASK]"),
}
# and the names of these roles in the files beside a tokenizer
JOBS = {
    "pad": ("pad_token",),
    "start": ("bos_token", "cls_token"),
    "end": ("eos_token", "sep_token"),
    "unk": ("unk_token",),
    "mask": ("mask_token",),
}
# other settings in these files that hold for a saved tokenizer, too
KEPT = ("chat_template", "model_max_length", "padding_side", "truncation_side", "model_input_names")
SPECIALS = ("<pad>", "<s>", "</s>", "<unk>", "<mask>")
BERT = ("[PAD]", "[CLS]", "[SEP]", "[UNK]", "[MASK]")


class Tokenizer:
    """Text <-> ids. `pad_id`, `start_id`, `end_id`, `unk_id`, `mask_id`: None if there is no such token.

    Truncation and padding that the file asks for are switched off: texts are encoded whole, and only `batch` pads, and
    truncates if it is given a length. `settings`: the names of special tokens ("eos_token": "</s>"), the chat template
    and others of `KEPT`, if the tokenizer comes from a model's directory.
    """

    def __init__(self, inner: Inner) -> None:
        inner.no_truncation()
        inner.no_padding()
        byte_level.end_words(inner)
        self.inner = inner
        self.settings: dict[str, Any] = {}
        ids = {job: [inner.token_to_id(name) for name in names] for job, names in NAMES.items()}
        found = {job: next((i for i in known if i is not None), None) for job, known in ids.items()}
        self.pad_id, self.start_id, self.end_id, self.unk_id, self.mask_id = found.values()

    @classmethod
    def load(cls, file: str | Path) -> Tokenizer:
        """Reads a tokenizer.json. Raises FileNotFoundError, and ValueError for a file that is not a tokenizer."""
        if not Path(file).is_file():
            raise FileNotFoundError(f"no tokenizer at {file}: train one and save it there first")
        try:
            inner = Inner.from_file(str(file))
        except Exception as error:  # the library raises plain Exception
            raise ValueError(f"{file} is not a tokenizer.json: {error}") from error
        return cls(inner)

    @classmethod
    def from_pretrained(cls, directory: str | Path) -> Tokenizer:
        """The tokenizer in a model's directory: tokenizer.json or, for older checkpoints, vocab.json with merges.txt
        (GPT-2's and RoBERTa's families), BERT's vocab.txt, or a SentencePiece model. The files beside it name the
        special tokens for padding, start, end and masking. Raises FileNotFoundError if there is none of them,
        ValueError for a damaged one, or an architecture whose special tokens are not known."""
        found = cls._load_files(Path(directory))
        found.settings |= read_settings(Path(directory))
        for job, name in special_names(found.settings).items():
            if (i := found.inner.token_to_id(name)) is not None:
                setattr(found, f"{job}_id", i)
        return found

    @classmethod
    def _load_files(cls, directory: Path) -> Tokenizer:
        if (directory / FILE).is_file():
            return cls.load(directory / FILE)
        if all((directory / name).is_file() for name in byte_level.FILES):
            inner, roles = byte_level.byte_level(directory)
            found = cls(inner)
            found.settings |= roles
            return found
        if (directory / "vocab.txt").is_file():
            return bert(directory / "vocab.txt", **bert_settings(directory))
        for name in sentencepiece.FILES:
            if (directory / name).is_file():
                return cls(sentencepiece.sentencepiece(directory / name))
        raise FileNotFoundError(
            f"{directory} holds no {FILE}, nor vocab.json with merges.txt, nor vocab.txt, nor a SentencePiece model"
        )

    def save(self, file: str | Path) -> None:
        """Writes a tokenizer.json that `tokenizers` and transformers read; its folder is created if it is missing."""
        Path(file).parent.mkdir(parents=True, exist_ok=True)
        self.inner.save(str(file))

    def save_pretrained(self, directory: str | Path) -> None:
        """Writes tokenizer.json into a model's directory, and tokenizer_config.json with each role's special token and
        the chat template, for `from_pretrained` and transformers' AutoTokenizer."""
        self.save(Path(directory) / FILE)
        names = self.role_names()
        kept = {key: value for key, value in self.settings.items() if key in KEPT}
        # transformers would pass token types to models that do not take them
        kept.setdefault(
            "model_input_names", ["input_ids", *["token_type_ids"] * ("cls_token" in names), "attention_mask"]
        )
        text = json.dumps({"tokenizer_class": "PreTrainedTokenizerFast"} | names | kept, indent=2, ensure_ascii=False)
        (Path(directory) / SETTINGS).write_text(text + "\n", encoding="utf-8")
        if "chat_template" in kept:
            (Path(directory) / TEMPLATE).unlink(missing_ok=True)  # an older one, which would take precedence

    def role_names(self) -> dict[str, str]:
        """The special tokens of the current ids by their names in tokenizer_config.json: {"bos_token": "<s>"}."""
        known = set(chain(*JOBS.values()))
        names = {key: name for key, name in self.settings.items() if key in known and isinstance(name, str)}
        for job, keys in JOBS.items():
            i = getattr(self, f"{job}_id")
            name = None if i is None else self.inner.id_to_token(i)
            if name is None:
                names = {key: value for key, value in names.items() if key not in keys}
            else:
                names[next((key for key in keys if key in names), keys[-1] if name in BERT else keys[0])] = name
        return {key: name for key, name in names.items() if self.inner.token_to_id(name) is not None}

    def __len__(self) -> int:
        return self.inner.get_vocab_size()

    def encode(self, texts: Sequence[str], specials: bool = True) -> list[list[int]]:
        """Ids per text, with or without the special tokens that this kind of tokenizer adds. Raises TypeError if
        `texts` is not a list of texts."""
        return [row.ids for row in self.inner.encode_batch(require_texts(texts), add_special_tokens=specials)]

    def decode(self, rows: Iterable[Sequence[int]]) -> list[str]:
        """Text per row of ids, without special tokens. Raises ValueError for an id outside the vocabulary."""
        return self.inner.decode_batch([self.check_ids(row) for row in rows], skip_special_tokens=True)

    def check_ids(self, row: Sequence[int]) -> list[int]:
        """The ids of a row, if each of them is in the vocabulary. Raises ValueError otherwise, TypeError for a single
        id."""
        if isinstance(row, int) or getattr(row, "ndim", 1) == 0:
            raise TypeError("decode takes rows of ids, one for each text: for a single row write decode([ids])")
        ids = list(map(int, row))
        for i in set(ids):
            if i < 0 or self.inner.id_to_token(i) is None:
                raise ValueError(f"id {i} is not in the vocabulary, which has {len(self)} symbols")
        return ids

    def offsets(self, text: str) -> list[tuple[int, int]]:
        """For each id of `encode([text])`, the characters [start, end) it stands for; (0, 0) for special symbols."""
        return self.inner.encode(text).offsets

    def batch(
        self,
        texts: Sequence[str],
        pairs: Sequence[str] | None = None,
        length: int | None = None,
        *,
        return_special_tokens_mask: bool = False,
    ) -> dict[str, Tensor]:
        """A model's inputs, padded to the longest and cut to `length`: input_ids, attention_mask and, for pairs,
        token_type_ids, all int64 [B,L]; on request also special_tokens_mask, which objectives read and models do not.
        Raises ValueError if `pairs` and `texts` differ in number, or length leaves no room for a word."""
        texts = require_texts(texts)
        if pairs is not None and len(pairs) != len(texts):
            raise ValueError(f"{len(texts)} texts and {len(pairs)} pairs: pass one pair for each text")
        rows = self.truncate(texts if pairs is None else list(zip(texts, require_texts(pairs), strict=True)), length)
        batch = {
            "input_ids": pad([row.ids for row in rows], self.pad_id or 0),
            "attention_mask": pad([row.attention_mask for row in rows], 0),
        }
        if pairs is not None:
            batch["token_type_ids"] = pad([row.type_ids for row in rows], 0)
        if return_special_tokens_mask:
            batch["special_tokens_mask"] = pad([row.special_tokens_mask for row in rows], 1)
        return batch

    def truncate(self, given: list[Any], length: int | None) -> list[Encoding]:
        """Texts, or pairs of them, encoded and cut to `length`; the tokenizer's settings are restored afterwards."""
        if length is None:
            return self.inner.encode_batch(given)
        least = 1 + self.inner.num_special_tokens_to_add(bool(given) and isinstance(given[0], tuple))
        if length < least:
            raise ValueError(f"length={length}: must be at least {least}, for the special symbols and one more")
        self.inner.enable_truncation(length)
        try:
            return self.inner.encode_batch(given)
        finally:
            self.inner.no_truncation()


def require_texts(texts: Any) -> list[str]:
    """The texts as a list. Raises TypeError for a single text, and for items that are not text."""
    if isinstance(texts, (str, bytes)):
        raise TypeError(f"texts must be a list; got one {type(texts).__name__}: write [text]")
    if not hasattr(texts, "__iter__"):
        raise TypeError(f"texts must be a list of strings; got {type(texts).__name__}")
    texts = list(texts)
    for text in texts:
        if not isinstance(text, str):
            raise TypeError(f"texts must be strings; got {type(text).__name__}")
    return texts


def read_settings(directory: Path) -> dict[str, Any]:
    """The settings in special_tokens_map.json, tokenizer_config.json and chat_template.jinja, of which a later file
    takes precedence; a special token that has options of its own is reduced to its text."""
    found: dict[str, Any] = {}
    for name in ("special_tokens_map.json", SETTINGS):
        found |= {key: value for key, value in read_optional_json(directory / name).items() if value is not None}
    if (directory / TEMPLATE).is_file():
        found["chat_template"] = (directory / TEMPLATE).read_text(encoding="utf-8")
    return {key: token_text(value) if key.endswith("_token") else value for key, value in found.items()}


def token_text(token: Any) -> Any:
    """The text of a token that has options, such as {"content": "<mask>", "lstrip": true}; others as they are."""
    return token.get("content") if isinstance(token, dict) else token


def special_names(settings: dict[str, Any]) -> dict[str, str]:
    """The token that the settings assign to each role: {"pad": "<pad>"}."""
    jobs = {job: next((settings[key] for key in keys if key in settings), None) for job, keys in JOBS.items()}
    return {job: name for job, name in jobs.items() if isinstance(name, str)}


def bert_settings(directory: Path) -> dict[str, Any]:
    """The arguments of `bert` that a published tokenizer_config.json gives."""
    settings = read_optional_json(directory / SETTINGS)
    names = {"do_lower_case": "lowercase", "strip_accents": "strip_accents", "tokenize_chinese_chars": "split_chinese"}
    return {name: settings[key] for key, name in names.items() if settings.get(key) is not None}


def pad(rows: Sequence[Sequence[int]], fill: int, least: int = 0) -> Tensor:
    """Rows of ids -> int64 [B,L], with `fill` after the shorter ones; L is at least `least`, and 0 without rows."""
    lengths = torch.tensor([len(row) for row in rows], dtype=torch.int64)
    out = torch.full((len(rows), max(int(lengths.max()), least) if rows else 0), fill)
    flat = np.fromiter(chain.from_iterable(rows), np.int64, int(lengths.sum()))  # 4 times as fast as torch.tensor
    out[torch.arange(out.size(1)) < lengths[:, None]] = torch.from_numpy(flat)
    return out


def pack_documents(documents: Iterable[Sequence[int]], length: int, end_id: int) -> Tensor:
    """Concatenates documents, each followed by `end_id`, and cuts them into full rows: RoBERTa's FULL-SENTENCES (Liu et
    al. 2019, 4.2). Nothing is padded; only the last, incomplete row is dropped. -> int64 [N,length]. Raises ValueError
    when there is less than one row of text."""
    if length < 1:
        raise ValueError(f"length={length}: a row holds at least one token")
    stream = torch.tensor([i for ids in documents for i in (*ids, end_id)])
    if len(stream) < length:
        raise ValueError(f"{len(stream)} tokens do not fill one row of {length}: give more text, or a shorter length")
    return stream[: len(stream) // length * length].view(-1, length)


def train(kind: str, texts: Iterable[str], size: int, extra: Sequence[str] = ()) -> Tokenizer:
    """Learns a vocabulary of `size` tokens, including the special tokens (ids 0-4) and `extra` (the last ids).

    kind: "bpe" (Sennrich et al. 2016), "byte_bpe" (Radford et al. 2019), "wordpiece" (Schuster & Nakajima 2012; with
    BERT's own special tokens) or "unigram" (Kudo 2018). Raises ValueError for another kind, a size with no room for the
    special tokens, or no text at all; TypeError for texts that are not strings.
    """
    if kind not in KINDS:
        raise ValueError(f"no tokenizer kind {kind!r}; available: {', '.join(KINDS)}")
    if isinstance(texts, str | bytes) or not isinstance(texts, Iterable):
        raise TypeError(f"texts must be an iterable of strings; got one {type(texts).__name__}: write [text]")
    if type(size) is not int:
        raise TypeError(f"size={size!r}: must be a whole number of symbols")
    if size - len(extra) < len(SPECIALS):
        raise ValueError(f"size={size}: must be at least {len(SPECIALS) + len(extra)}, for the special symbols alone")
    first = next(words := iter(texts), None)
    if first is None:
        raise ValueError("texts is empty: pass at least one text to train on")
    inner = KINDS[kind](strings(chain([first], words)), size - len(extra))
    inner.add_special_tokens(list(extra))
    return Tokenizer(inner)


def strings(texts: Iterable[Any]) -> Iterator[str]:
    """The texts, one by one. Raises TypeError at one that is not a string."""
    for text in texts:
        if not isinstance(text, str):
            raise TypeError(f"texts must be strings; got {type(text).__name__}")
        yield text


def _bpe(texts: Iterable[str], size: int) -> Inner:
    inner = Inner(models.BPE(unk_token="<unk>", end_of_word_suffix="</w>"))
    inner.pre_tokenizer = pre_tokenizers.Whitespace()
    inner.decoder = decoders.BPEDecoder(suffix="</w>")
    return _train(inner, texts, trainers.BpeTrainer, size, SPECIALS, end_of_word_suffix="</w>")


def byte_bpe(texts: Iterable[str], size: int, specials: Sequence[str] = SPECIALS, space_first: bool = False) -> Inner:
    """BPE over bytes; space_first: the first word of a text is encoded as if a space stood before it, like all
    others."""
    inner = Inner(models.BPE())
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=space_first)
    inner.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    return _train(inner, texts, trainers.BpeTrainer, size, specials, initial_alphabet=alphabet)


def _wordpiece(texts: Iterable[str], size: int) -> Inner:
    inner = Inner(models.WordPiece(unk_token="[UNK]"))
    inner.normalizer = normalizers.BertNormalizer(lowercase=True)
    inner.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    inner.decoder = decoders.WordPiece()
    return _train(inner, texts, trainers.WordPieceTrainer, size, BERT)


def _unigram(texts: Iterable[str], size: int) -> Inner:
    inner = Inner(models.Unigram())
    inner.normalizer = normalizers.NFKC()
    inner.pre_tokenizer = pre_tokenizers.Metaspace()
    inner.decoder = decoders.Metaspace()
    return _train(inner, texts, trainers.UnigramTrainer, size, SPECIALS, unk_token="<unk>")


KINDS: dict[str, Callable[[Iterable[str], int], Inner]] = {
    "bpe": _bpe,
    "byte_bpe": byte_bpe,
    "wordpiece": _wordpiece,
    "unigram": _unigram,
}


def _train(inner: Inner, texts: Iterable[str], trainer: Callable, size: int, specials: Sequence[str], **how) -> Inner:
    how |= {"vocab_size": size, "special_tokens": list(specials), "show_progress": False}
    inner.train_from_iterator(texts, trainer(**how))
    return special_tokens_template(inner, specials[1], specials[2])


def special_tokens_template(inner: Inner, start: str, end: str) -> Inner:
    """Puts `start` before and `end` after a text; a second text has token type 1 and ends in `end` too."""
    ids = [(name, inner.token_to_id(name)) for name in (start, end)]
    pair = f"{start} $A {end} $B:1 {end}:1"
    inner.post_processor = processors.TemplateProcessing(single=f"{start} $A {end}", pair=pair, special_tokens=ids)
    return inner


def gpt2(vocabulary: str | Path, merges: str | Path) -> Tokenizer:
    """GPT-2's tokenizer, from its two published files (encoder.json or vocab.json; vocab.bpe or merges.txt). It adds no
    special tokens to a text."""
    inner = byte_level.bpe(vocabulary, merges)
    if inner.token_to_id("<|endoftext|>") is not None:
        inner.add_special_tokens(["<|endoftext|>"])
    return Tokenizer(inner)


def bert(
    vocabulary: str | Path, lowercase: bool = True, strip_accents: bool | None = None, split_chinese: bool = True
) -> Tokenizer:
    """BERT's tokenizer, from its published vocab.txt: one token per line, whose line number is the id. strip_accents:
    whether ü becomes u, None: where text is put in lower case; split_chinese: whether each Chinese character is a word.
    """
    inner = Inner(models.WordPiece({word: i for i, word in enumerate(_lines(vocabulary))}, unk_token="[UNK]"))
    inner.normalizer = normalizers.BertNormalizer(
        handle_chinese_chars=split_chinese, strip_accents=strip_accents, lowercase=lowercase
    )
    inner.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    inner.decoder = decoders.WordPiece()
    inner.add_special_tokens(list(BERT))
    return Tokenizer(special_tokens_template(inner, "[CLS]", "[SEP]"))


def _lines(file: str | Path) -> list[str]:
    return Path(file).read_text(encoding="utf-8").rstrip("\n").split("\n")
