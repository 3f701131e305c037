"""Prepares a run of `python -m tfkit.train` once: the tokenizer, the packed rows, and a record of their sources."""

from __future__ import annotations

import argparse
import hashlib
import json
import os
from pathlib import Path
from typing import Any

from tfkit.objectives import Objective, trainable
from tfkit.text import vocabulary
from tfkit.text.vocabulary import Tokenizer
from tfkit.train.packed_dataset import write_rows
from tfkit.train.process_group import ProcessGroup


def objective(given: argparse.Namespace, words: Tokenizer) -> Objective:
    """The training objective. Raises ValueError for a vocabulary without the special tokens that it needs."""
    kind = trainable()[given.objective]
    for symbol in ("end", *kind.SYMBOLS):
        if getattr(words, f"{symbol}_id") is None:
            known = ", ".join(vocabulary.NAMES[symbol])
            raise ValueError(f"{given.objective} needs a symbol for {symbol}; the vocabulary has none of {known}")
    return kind.from_tokenizer(words, given.length)


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
    """What the tokenizer and rows were made from: the text and the tokenizer by content, the settings by value."""
    digest = hashlib.sha256()
    for file in given.text:
        content = file.read_bytes()
        digest.update(len(content).to_bytes(8, "little") + content)
    made = {"text": digest.hexdigest(), "length": given.length, "objective": given.objective}
    if given.tokenizer:
        return made | {"tokenizer": hashlib.sha256(given.tokenizer.read_bytes()).hexdigest()}
    return made | {"kind": given.kind, "vocabulary": given.vocabulary}


def prepare(given: argparse.Namespace, process_group: ProcessGroup) -> Tokenizer:
    """The tokenizer, with the packed rows in `given.out`; the first process makes whatever is missing.

    Raises ValueError if the existing files were made from another text or with other settings."""
    tokenizer, rows, note = (given.out / name for name in ("tokenizer.json", "rows.npy", "prepared.json"))
    if process_group.rank == 0:
        made = origin(given)
        if rows.exists():
            require_same_sources(given.out, note, made)
        else:
            words, texts = make_tokenizer(given, read_texts(given.text)), read_texts(given.text)
            objective(given, words)
            given.out.mkdir(parents=True, exist_ok=True)
            partial = note.with_name(note.name + ".part")
            partial.write_text(json.dumps(made, indent=2) + "\n", encoding="utf-8")
            os.replace(partial, note)
            words.save(tokenizer)
            write_rows(rows, words.encode(texts, specials=False), given.length, words.end_id or 0)
    process_group.barrier()
    return Tokenizer.load(tokenizer)


def make_tokenizer(given: argparse.Namespace, texts: list[str]) -> Tokenizer:
    """The given tokenizer, or one trained on the texts, with sentinel tokens if the objective needs them."""
    if given.tokenizer:
        return Tokenizer.load(given.tokenizer)
    extra = trainable()[given.objective].extra_tokens(given.length)
    lines = (line for text in texts for line in text.splitlines())
    return vocabulary.train(given.kind, lines, given.vocabulary, extra)


def require_same_sources(out: Path, note: Path, made: dict[str, Any]) -> None:
    """Raises ValueError unless the note says that the files in `out` were made from the same sources."""
    if not note.is_file():
        raise ValueError(f"{out} holds rows.npy, but no {note.name}, which records its source: choose another --out")
    before = json.loads(note.read_text(encoding="utf-8"))
    differ = [f"--{name}" for name in sorted(before.keys() | made.keys()) if before.get(name) != made.get(name)]
    if differ:
        raise ValueError(f"{out} was prepared with another {', '.join(differ)}: choose another --out, or delete it")
