"""Byte-level BPE (Radford et al. 2019), read from a vocab.json with a merges.txt into `tokenizers`.

The files do not say which special tokens a model puts around a text: each architecture has its `SpecialTokens`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tokenizers import AddedToken, Regex, decoders, models, normalizers, pre_tokenizers, processors
from tokenizers import Tokenizer as Inner

from tfkit.text.sentencepiece import read_optional_json

FILES = ("vocab.json", "merges.txt")
SETTINGS = ("special_tokens_map", "tokenizer_config", "config")
WORDS = r"<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"
OPTIONS = ("single_word", "lstrip", "rstrip", "normalized")


@dataclass(frozen=True)
class SpecialTokens:
    """roles: the special tokens, unless the files beside the vocabulary name others. surrounded: the roles of those
    before and after a text, if there are two; starts: whether bos_token precedes it, unless tokenizer_config.json says
    otherwise. ends_words: whether words are in lower case, apart from spaces, and end in `</w>`, as CLIP's do."""

    roles: Mapping[str, str]
    surrounded: tuple[str, ...] = ()
    starts: bool = False
    ends_words: bool = False


GPT2 = SpecialTokens({f"{role}_token": "<|endoftext|>" for role in ("bos", "eos", "unk")})
OPT = SpecialTokens({"bos_token": "</s>", "eos_token": "</s>", "unk_token": "</s>", "pad_token": "<pad>"}, starts=True)
ROBERTA = SpecialTokens(
    {"bos_token": "<s>", "eos_token": "</s>", "cls_token": "<s>", "sep_token": "</s>", "unk_token": "<unk>",
     "pad_token": "<pad>", "mask_token": "<mask>"},
    surrounded=("cls_token", "sep_token"),
)  # fmt: skip
CLIP = SpecialTokens(
    {"bos_token": "<|startoftext|>", **{f"{role}_token": "<|endoftext|>" for role in ("eos", "unk", "pad")}},
    surrounded=("bos_token", "eos_token"), ends_words=True,
)  # fmt: skip
# keys: the model_type of config.json
LAYOUTS = {
    "gpt2": GPT2, "gpt3": GPT2, "gpt_neo": GPT2, "gptj": GPT2, "codegen": GPT2, "phi": GPT2, "opt": OPT,
    "roberta": ROBERTA, "bart": ROBERTA, "longformer": ROBERTA, "led": ROBERTA,
    "clip": CLIP, "clip_text_model": CLIP,
}  # fmt: skip


def byte_level(directory: Path) -> tuple[Inner, dict[str, str]]:
    """The tokenizer of vocab.json and merges.txt with the special tokens of its architecture, and their roles.

    config.json names the architecture; without it, a cls_token means RoBERTa's layout, and otherwise it is GPT-2's.
    Raises ValueError for an architecture whose layout is not known, for added tokens whose ids do not follow the
    vocabulary, and for a vocabulary without the tokens that its architecture puts around a text.
    """
    tokens_map, settings, config = (read_optional_json(directory / f"{name}.json") for name in SETTINGS)
    named = tokens_map | settings
    kind = config.get("model_type", "roberta" if "cls_token" in named else "gpt2")
    if kind not in LAYOUTS:
        raise ValueError(
            f"{directory}: {kind} with {' and '.join(FILES)} is not supported, only with a tokenizer.json; supported: "
            f"{', '.join(LAYOUTS)}"
        )
    layout, (vocabulary, merges) = LAYOUTS[kind], (directory / name for name in FILES)
    if layout.ends_words:
        inner = bpe_of_words(vocabulary, merges, unknown_token(named))
    else:
        inner = bpe(vocabulary, merges)
    tokens = {role: special_token(role, named.get(role) or name, kind) for role, name in layout.roles.items()}
    tokens |= {
        role: special_token(role, named[role], kind)
        for role in named if role.endswith("_token") and role not in tokens and isinstance(named[role], (str, dict))
    }  # fmt: skip
    add_tokens(inner, directory, tokens)
    roles = {role: token.content for role, token in tokens.items() if inner.token_to_id(token.content) is not None}
    return set_post_processor(inner, layout, roles, named, directory), roles


def bpe(vocabulary: str | Path, merges: str | Path) -> Inner:
    """Byte-level BPE without special tokens, from a JSON object of ids and a list of merges."""
    inner = Inner(models.BPE(*read_bpe(vocabulary, merges)))
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.decoder = decoders.ByteLevel()
    return inner


def read_bpe(vocabulary: str | Path, merges: str | Path) -> tuple[dict[str, int], list[tuple[str, str]]]:
    """The ids of the tokens, and the merges in the order learned."""
    ids = json.loads(Path(vocabulary).read_text(encoding="utf-8"))
    lines = Path(merges).read_text(encoding="utf-8").split("\n")
    pairs = [line.split() for line in lines if line and not line.startswith("#version")]
    return ids, [(left, right) for left, right in pairs]


def bpe_of_words(vocabulary: str | Path, merges: str | Path, unknown: str = "<|endoftext|>") -> Inner:
    """CLIP's BPE (Radford et al. 2021): of the bytes of words in lower case, of which the last ends in `</w>`; how much
    space stood between two words is lost. `unknown` stands for what is not in the vocabulary."""
    ids, pairs = read_bpe(vocabulary, merges)
    end = "</w>"
    inner = Inner(models.BPE(ids, pairs, continuing_subword_prefix="", end_of_word_suffix=end, unk_token=unknown))
    spaces = normalizers.Replace(Regex(r"\s+"), " ")
    inner.normalizer = normalizers.Sequence([normalizers.NFC(), spaces, normalizers.Lowercase()])
    words = pre_tokenizers.Split(Regex(WORDS), "removed", invert=True)
    inner.pre_tokenizer = pre_tokenizers.Sequence([words, pre_tokenizers.ByteLevel(add_prefix_space=False)])
    inner.decoder = decoders.ByteLevel()
    return inner


def end_words(inner: Inner) -> None:
    """Makes a tokenizer whose tokens name the ends of words write spaces there. The published files do not say so:
    transformers knows it of CLIP."""
    end = getattr(inner.model, "end_of_word_suffix", None)
    if end and isinstance(inner.decoder, decoders.ByteLevel):
        # \A and \z, as ^ and $ match at every line for this engine
        outside = decoders.Replace(Regex(r"\A\s+|\s+\z"), "")
        inner.decoder = decoders.Sequence([decoders.ByteLevel(), decoders.Replace(end, " "), outside])


def unknown_token(named: Mapping[str, Any]) -> str:
    """The text of what stands for the unknown in a vocabulary of words."""
    found = named.get("unk_token") or CLIP.roles["unk_token"]
    return str(found["content"] if isinstance(found, dict) else found)


def special_token(role: str, value: str | dict[str, Any], kind: str) -> AddedToken:
    """The token of a role from special_tokens_map.json: its text, or its text with options."""
    if isinstance(value, str):  # RoBERTa's mask stands for a word with the space before it
        value = {"content": value, "lstrip": role == "mask_token" and bool(LAYOUTS[kind].surrounded)}
    options = {name: bool(value[name]) for name in OPTIONS if name in value}
    return AddedToken(value["content"], special=True, **options)


def add_tokens(inner: Inner, directory: Path, tokens: Mapping[str, AddedToken]) -> None:
    """Adds the tokens of added_tokens.json after the vocabulary, and makes those of `tokens` that exist special."""
    added = read_optional_json(directory / "added_tokens.json")
    for text, i in sorted(added.items(), key=lambda item: item[1]):
        inner.add_tokens([AddedToken(text, normalized=False)])
        if inner.token_to_id(text) != i:
            raise ValueError(
                f"{directory / 'added_tokens.json'}: {text!r} has id {i}, but the next free one is "
                f"{inner.token_to_id(text)}: the file belongs to another vocabulary"
            )
    inner.add_special_tokens([token for token in tokens.values() if inner.token_to_id(token.content) is not None])


def set_post_processor(
    inner: Inner, layout: SpecialTokens, roles: Mapping[str, str], settings: Mapping[str, Any], directory: Path
) -> Inner:
    """Puts the special tokens of the layout around a text."""
    starts = not layout.surrounded and settings.get("add_bos_token", layout.starts)
    needed = layout.surrounded or ("bos_token",) * starts
    ids: dict[str, int] = {}
    for role in needed:
        i = inner.token_to_id(roles[role]) if role in roles else None
        if i is None:
            raise ValueError(f"{directory / FILES[0]} has no {role}, which its architecture puts around texts")
        ids[role] = i
    if layout.surrounded:
        cls, sep = ((roles[role], ids[role]) for role in needed)
        trims = not layout.ends_words  # elsewhere a token may begin with a space, which is no part of its word
        inner.post_processor = processors.RobertaProcessing(sep, cls, trim_offsets=trims, add_prefix_space=False)
    elif starts:
        start = roles["bos_token"]
        pair, symbols = f"{start} $A {start}:1 $B:1", [(start, ids["bos_token"])]
        inner.post_processor = processors.TemplateProcessing(f"{start} $A", pair, symbols)
    return inner
