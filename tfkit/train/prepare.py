"""What `python -m tfkit.train` prepares once: the tokenizer, the packed rows, and what they were made from."""

from __future__ import annotations

import argparse
import hashlib
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tfkit.objectives import Objective
from tfkit.objectives.causal_lm import CausalLM
from tfkit.objectives.denoising import Denoising
from tfkit.objectives.masked_lm import MaskedLM
from tfkit.objectives.permutation_lm import PermutationLM
from tfkit.objectives.span_corruption import SpanCorruption
from tfkit.text import vocabulary
from tfkit.text.vocabulary import Tokenizer
from tfkit.train.blocks import write_rows
from tfkit.train.world import World

SENTINELS = ("<extra_{}>", "<extra_id_{}>")  # ours, and T5's
LEARNED = 32  # sentinels that a vocabulary for span corruption is given at least


@dataclass(frozen=True)
class Purpose:
    """What an objective needs: a head of the model, symbols of the tokenizer, and how it is made for a vocabulary."""

    head: str
    make: Callable[[Tokenizer], Objective]
    symbols: tuple[str, ...] = ()


PURPOSES = {
    "causal_lm": Purpose("causal_lm", lambda words: CausalLM()),
    "masked_lm": Purpose("masked_lm", lambda words: MaskedLM(words.mask_id or 0, len(words)), ("mask",)),
    "permutation_lm": Purpose("masked_lm", lambda words: PermutationLM()),
    "span_corruption": Purpose("seq2seq_lm", lambda words: spans(words), ("pad",)),
    "denoising": Purpose(
        "seq2seq_lm", lambda words: Denoising(words.mask_id or 0, words.pad_id or 0), ("mask", "pad")
    ),
}  # fmt: skip


def spans(words: Tokenizer) -> SpanCorruption:
    """Span corruption with the sentinels of a vocabulary, whose ids count down. Raises ValueError where it has none."""
    for name in SENTINELS:
        ids: list[int] = []
        while (found := words.inner.token_to_id(name.format(len(ids)))) is not None:
            ids.append(found)
        if ids:
            break
    else:
        raise ValueError(f"the vocabulary has no sentinels {' or '.join(n.format(0) for n in SENTINELS)}, …")
    if ids != list(range(ids[0], ids[0] - len(ids), -1)):
        raise ValueError(f"the ids of {name.format(0)} and the sentinels after it do not count down one by one")
    return SpanCorruption(ids[0], words.end_id or 0, words.pad_id or 0, n_sentinels=len(ids))


def objective(given: argparse.Namespace, words: Tokenizer) -> Objective:
    """What the model is to learn. Raises ValueError for a vocabulary without the symbols that this needs."""
    purpose = PURPOSES[given.objective]
    for symbol in ("end", *purpose.symbols):
        if getattr(words, f"{symbol}_id") is None:
            known = ", ".join(vocabulary.NAMES[symbol])
            raise ValueError(f"{given.objective} needs a symbol for {symbol}; the vocabulary has none of {known}")
    made = purpose.make(words)
    if isinstance(made, SpanCorruption) and (needed := made.sentinels(given.length)) > made.n_sentinels:
        raise ValueError(
            f"rows of {given.length} tokens need {needed} sentinels; the vocabulary has {made.n_sentinels}"
        )
    return made


def read_texts(files: list[Path]) -> list[str]:
    """One text of each file. Raises ValueError for a file that is not UTF-8."""
    texts = []
    for file in files:
        try:
            texts.append(file.read_text(encoding="utf-8"))
        except UnicodeDecodeError as error:
            raise ValueError(f"{file} is not UTF-8 text: {error.reason} at byte {error.start}") from None
    return texts


def origin(given: argparse.Namespace) -> dict[str, Any]:
    """What tokenizer and rows depend on: the text and the tokenizer by content, the settings by value."""
    digest = hashlib.sha256()
    for file in given.text:
        content = file.read_bytes()
        digest.update(len(content).to_bytes(8, "little") + content)
    made = {"text": digest.hexdigest(), "length": given.length, "objective": given.objective}
    if given.tokenizer:
        return made | {"tokenizer": hashlib.sha256(given.tokenizer.read_bytes()).hexdigest()}
    return made | {"kind": given.kind, "vocabulary": given.vocabulary}


def prepare(given: argparse.Namespace, world: World) -> Tokenizer:
    """The tokenizer and the packed rows in `given.out`; the first process makes what is not there.

    Raises ValueError where what is there was made from another text or with other settings."""
    tokenizer, rows, note = (given.out / name for name in ("tokenizer.json", "rows.npy", "prepared.json"))
    if world.rank == 0:
        made = origin(given)
        if rows.exists():
            same(given.out, note, made)
        else:
            words, texts = learned(given, read_texts(given.text)), read_texts(given.text)
            objective(given, words)
            given.out.mkdir(parents=True, exist_ok=True)
            partial = note.with_name(note.name + ".part")
            partial.write_text(json.dumps(made, indent=2) + "\n", encoding="utf-8")
            os.replace(partial, note)
            words.save(tokenizer)
            write_rows(rows, words.encode(texts, specials=False), given.length, words.end_id or 0)
    world.wait()
    return Tokenizer.load(tokenizer)


def learned(given: argparse.Namespace, texts: list[str]) -> Tokenizer:
    """The tokenizer that was given, or one learned from the texts, with sentinels where the objective needs them."""
    if given.tokenizer:
        return Tokenizer.load(given.tokenizer)
    extra: list[str] = []
    if given.objective == "span_corruption":
        count = max(LEARNED, SpanCorruption(0, 0).sentinels(given.length))
        extra = [SENTINELS[0].format(i) for i in reversed(range(count))]
    lines = (line for text in texts for line in text.splitlines())
    return vocabulary.train(given.kind, lines, given.vocabulary, extra)


def same(out: Path, note: Path, made: dict[str, Any]) -> None:
    """Raises ValueError unless the note says that what is in `out` was made from the same."""
    if not note.is_file():
        raise ValueError(f"{out} holds rows.npy, but no {note.name} that says what from: choose another --out")
    before = json.loads(note.read_text(encoding="utf-8"))
    differ = [f"--{name}" for name in sorted(before.keys() | made.keys()) if before.get(name) != made.get(name)]
    if differ:
        raise ValueError(f"{out} was prepared with another {', '.join(differ)}: choose another --out, or delete it")
