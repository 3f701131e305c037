"""SentencePiece models (Kudo & Richardson 2018, arXiv:1808.06226), read from their files into `tokenizers`.

A file holds pieces with their scores, and how text is normalised. It does not say which special tokens a model puts
around a text, nor the ids of tokens that the file lacks: each architecture has a `Layout` for that.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

from tokenizers import Regex, decoders, models, normalizers, pre_tokenizers, processors
from tokenizers import Tokenizer as Inner

FILES = ("spiece.model", "tokenizer.model", "sentencepiece.bpe.model", "sentencepiece.model", "spm.model")
UNIGRAM, BPE = 1, 2  # model types; no published model uses the other two, words and characters
UNKNOWN, CONTROL, USER_DEFINED = 2, 3, 4  # types of pieces


class Piece(NamedTuple):
    """A symbol, its log-probability (of BPE: minus its rank), and its type."""

    text: str
    score: float = 0.0
    type: int = 1


@dataclass(frozen=True)
class SentencePieceModel:
    """The content of a file; the field numbers are those of sentencepiece_model.proto."""

    pieces: list[Piece]
    type: int
    byte_fallback: bool
    charsmap: bytes
    space_first: bool
    joins_spaces: bool


@dataclass(frozen=True)
class Layout:
    """single, pair: the templates around one text, or two. first: tokens that replace the first `instead` pieces of the
    file; last: tokens after all pieces of the file. cleans: whether to normalise quotes and case first, as ALBERT and
    XLNet do.
    """

    single: str = "$A"
    pair: str = "$A $B"
    first: Sequence[str] = ()
    instead: int = 0
    last: Sequence[str] = ()
    cleans: bool = False


def sentencepiece(file: str | Path) -> Inner:
    """The tokenizer of a SentencePiece file with the special tokens of its architecture, which the config.json in the
    same directory names. Raises ValueError for a damaged file, or an architecture whose layout is not known."""
    file = Path(file)
    kind = read_optional_json(file.parent / "config.json").get("model_type")
    settings = read_optional_json(file.parent / "tokenizer_config.json")
    if kind is not None and kind not in LAYOUTS:
        raise ValueError(f"{file}: the id layout of {kind} is not supported; supported: {', '.join(LAYOUTS)}")
    layout, model = LAYOUTS[kind](settings) if kind else Layout(), read(file)
    ids = read_optional_json(file.parent / "vocab.json") if kind == "m2m_100" else None
    known = {piece.text for piece in model.pieces}
    behind = [_symbol(name) for name in layout.last if name not in known]
    pieces = [*map(_symbol, layout.first), *model.pieces[layout.instead :], *behind]
    if ids is not None:
        named = {piece.text: piece for piece in model.pieces}
        pieces = [named.get(text, _symbol(text)) for text in sorted(ids, key=ids.__getitem__)]
        pieces += behind
    inner = _inner(model, pieces)
    inner.normalizer = normalizers.Sequence([*(_cleaning(settings) if layout.cleans else []), *_spaces(model)])
    inner.add_special_tokens([piece.text for piece in pieces if piece.type in (UNKNOWN, CONTROL)])
    inner.add_tokens([piece.text for piece in pieces if piece.type == USER_DEFINED])
    return _around(inner, layout)


def read(file: Path) -> SentencePieceModel:
    """The parts of a file that are needed here. Raises ValueError for a damaged one."""
    try:
        parts = list(_fields(file.read_bytes()))
        pieces = [_piece(value) for number, value in parts if number == 1]
        trainer = dict(_fields(next(value for number, value in parts if number == 2)))
        cleaning = dict(_fields(next((value for number, value in parts if number == 3), b"")))
    except (IndexError, ValueError, TypeError, StopIteration, struct.error) as error:
        raise ValueError(f"{file}: not a SentencePiece model, or damaged ({type(error).__name__})") from None
    kind = trainer.get(3, UNIGRAM)
    if kind not in (UNIGRAM, BPE) or not pieces:
        raise ValueError(f"{file}: neither a unigram nor a BPE model of SentencePiece")
    flags = {"space_first": bool(cleaning.get(3, True)), "joins_spaces": bool(cleaning.get(4, True))}
    return SentencePieceModel(pieces, kind, bool(trainer.get(35, False)), cleaning.get(2, b""), **flags)


def _piece(raw: bytes) -> Piece:
    fields = dict(_fields(raw))
    return Piece(fields[1].decode(), fields.get(2, 0.0), fields.get(3, 1))


def _fields(raw: bytes) -> Iterator[tuple[int, Any]]:
    """Protocol-buffer fields: their numbers, and their integers, floats or bytes."""
    at, value = 0, None  # type: int, Any
    while at < len(raw):
        key, at = _varint(raw, at)
        number, wire = key >> 3, key & 7
        if wire == 0:
            value, at = _varint(raw, at)
        elif wire == 2:
            size, at = _varint(raw, at)
            value, at = raw[at : at + size], at + size
        elif wire in (1, 5):
            size, code = (8, "<d") if wire == 1 else (4, "<f")
            value, at = struct.unpack_from(code, raw, at)[0], at + size
        else:
            raise ValueError(f"wire type {wire}")
        if at > len(raw):
            raise IndexError("cut off")
        yield number, value


def _varint(raw: bytes, at: int) -> tuple[int, int]:
    """-> an integer in base-128 varint encoding, and the offset of its end"""
    value = shift = 0
    while raw[at] & 0x80:
        value, shift, at = value | (raw[at] & 0x7F) << shift, shift + 7, at + 1
    return value | raw[at] << shift, at + 1


def _inner(model: SentencePieceModel, pieces: list[Piece]) -> Inner:
    unknown = next((i for i, piece in enumerate(pieces) if piece.type == UNKNOWN or piece.text == "<unk>"), None)
    fallback = model.byte_fallback
    if model.type == UNIGRAM:
        scored = [(piece.text, piece.score) for piece in pieces]
        inner = Inner(models.Unigram(scored, unk_id=unknown, byte_fallback=fallback))
    else:
        ids = {piece.text: i for i, piece in enumerate(pieces)}
        name = None if unknown is None else pieces[unknown].text
        merges = _merges(pieces, ids)
        inner = Inner(models.BPE(ids, merges, unk_token=name, fuse_unk=True, byte_fallback=fallback))
    # "first": no space is inserted after a special token
    always: Literal["always", "first"] = "always" if model.type == UNIGRAM else "first"
    scheme: Literal["always", "first", "never"] = always if model.space_first else "never"
    inner.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme=scheme, split=model.type == UNIGRAM)
    if fallback:
        stripped = [decoders.Strip(" ", 1, 0)] if model.space_first else []
        parts = [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), *stripped]
        inner.decoder = decoders.Sequence(parts)
    else:
        inner.decoder = decoders.Metaspace(prepend_scheme=scheme)
    return inner


def _merges(pieces: list[Piece], ids: dict[str, int]) -> list[tuple[str, str]]:
    """The BPE merges that produce the pieces, the likeliest first: the file lists only the pieces."""
    found = []
    for piece in pieces:
        if piece.type != 1:
            continue
        halves = [(piece.text[:i], piece.text[i:]) for i in range(1, len(piece.text))]
        both = [(left, right) for left, right in halves if left in ids and right in ids]
        found += [(-piece.score, pair) for pair in sorted(both, key=lambda pair: (ids[pair[0]], ids[pair[1]]))]
    return [pair for _, pair in sorted(found, key=lambda row: row[0])]


def _spaces(model: SentencePieceModel) -> list[Any]:
    charsmap = [normalizers.Precompiled(model.charsmap)] if model.charsmap else []
    joined = [normalizers.Strip(), normalizers.Replace(Regex(" {2,}"), " ")] if model.joins_spaces else []
    return [*charsmap, *joined]


def _cleaning(settings: dict[str, Any]) -> list[Any]:
    steps: list[Any] = [normalizers.Replace("``", '"'), normalizers.Replace("''", '"')]
    if not settings.get("keep_accents", False):
        steps += [normalizers.NFKD(), normalizers.StripAccents()]
    return steps + ([normalizers.Lowercase()] if settings["do_lower_case"] else [])


def _around(inner: Inner, layout: Layout) -> Inner:
    names = {part.partition(":")[0] for part in f"{layout.single} {layout.pair}".split() if "$" not in part}
    absent = [name for name in sorted(names) if inner.token_to_id(name) is None]
    if absent:
        raise ValueError(f"the SentencePiece model has no {absent[0]}, which its architecture puts around texts")
    ids = [(name, inner.token_to_id(name)) for name in names]
    inner.post_processor = processors.TemplateProcessing(single=layout.single, pair=layout.pair, special_tokens=ids)
    return inner


def _symbol(name: str) -> Piece:
    return Piece(name, 0.0, UNKNOWN if name == "<unk>" else CONTROL)


def read_optional_json(file: Path) -> dict[str, Any]:
    """The content of a JSON file; {} if there is no such file, or no object in it."""
    found = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    return found if isinstance(found, dict) else {}


def _t5(settings: dict[str, Any]) -> Layout:
    extra = [f"<extra_id_{i}>" for i in reversed(range(settings.get("extra_ids", 100)))]
    return Layout("$A </s>", "$A </s> $B </s>", last=extra)


def _albert(settings: dict[str, Any]) -> Layout:
    settings.setdefault("do_lower_case", True)
    return Layout("[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1", cleans=True)


def _xlnet(settings: dict[str, Any]) -> Layout:
    settings.setdefault("do_lower_case", False)
    return Layout("$A <sep> <cls>:2", "$A <sep> $B:1 <sep>:1 <cls>:2", cleans=True)


def _deberta(settings: dict[str, Any]) -> Layout:
    return Layout("[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1", last=["[MASK]"])


def _llama(settings: dict[str, Any]) -> Layout:
    start, end = settings.get("add_bos_token", True), settings.get("add_eos_token", False)
    around = lambda text, n: " ".join(["<s>" + n] * start + [text + n] + ["</s>" + n] * end)
    return Layout(around("$A", ""), f"{around('$A', '')} {around('$B', ':1')}")


FAIRSEQ = ("<s>", "<pad>", "</s>", "<unk>")  # these replace SentencePiece's own <unk>, <s>, </s>


def _xlm_roberta(settings: dict[str, Any]) -> Layout:
    return Layout("<s> $A </s>", "<s> $A </s> </s> $B </s>", FAIRSEQ, 3, ["<mask>"])


def _mbart(settings: dict[str, Any]) -> Layout:
    from tfkit.models.mbart import LANGUAGES

    if str(settings.get("tokenizer_class", "")).startswith("MBart50"):
        code = settings.get("src_lang") or "en_XX"
        return Layout(f"{code} $A </s>", f"{code} $A $B </s>", FAIRSEQ, 3, [*LANGUAGES, "<mask>"])
    code = settings.get("src_lang") or "en_XX"
    return Layout(f"$A </s> {code}", f"$A $B </s> {code}", FAIRSEQ, 3, [*LANGUAGES[:25], "<mask>"])


def _m2m_100(settings: dict[str, Any]) -> Layout:
    from tfkit.models.m2m_100 import LANGUAGES

    code = f"__{settings.get('src_lang') or 'en'}__"
    return Layout(f"{code} $A </s>", f"{code} $A $B </s>", last=[f"__{name}__" for name in LANGUAGES])


# keys: the model_type of config.json
LAYOUTS: dict[str, Callable[..., Layout]] = {
    "t5": _t5, "mt5": _t5, "albert": _albert, "xlnet": _xlnet, "deberta-v2": _deberta, "llama": _llama,
    "mistral": _llama, "mixtral": _llama, "xlm-roberta": _xlm_roberta, "mbart": _mbart, "m2m_100": _m2m_100,
}  # fmt: skip
