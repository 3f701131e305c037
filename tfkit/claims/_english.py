"""English that every Python brings along: the language reference's topics, and what the library says of itself."""

from __future__ import annotations

import random
import re
import sysconfig
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from inspect import cleandoc
from pathlib import Path
from pydoc_data import topics
from typing import Any, NamedTuple

import torch
from torch import Tensor

from tfkit.text.vocabulary import Tokenizer, pack_documents, train

Batch = dict[str, Tensor]
NOT_READ = {"site-packages", "dist-packages", "test", "tests", "idlelib", "lib2to3", "ensurepip"}
DOCSTRING = re.compile(r':[ ]*\n[ ]+[rR]?"""(.+?)"""', re.DOTALL)  # after a signature; parsing is slow


class Docstring(NamedTuple):
    """The first line of what is said of a class or function, and the rest; `file`: where in the library."""

    file: str
    summary: str
    body: str


@lru_cache
def docstrings() -> list[Docstring]:
    """Those with a summary of 4 to 20 words and at least 10 words more, each summary once, in the library's order."""
    library, found = Path(sysconfig.get_paths()["stdlib"]), dict[str, Docstring]()
    for file in sorted(library.rglob("*.py")):
        path = file.relative_to(library)
        if NOT_READ.isdisjoint(path.parts):
            for text in DOCSTRING.findall(file.read_text(encoding="utf-8", errors="replace")):
                summary, _, body = cleandoc(text).partition("\n\n")
                summary, body = normalize_spaces(summary), normalize_spaces(body.partition(">>>")[0])
                if 4 <= len(summary.split()) <= 20 and len(body.split()) >= 10:
                    found.setdefault(summary.lower(), Docstring(path.as_posix(), summary, body))
    return list(found.values())


def normalize_spaces(text: str) -> str:
    """On one line, without rules of four *, =, ~, ^ or - and more: runs of white space become a space."""
    return re.sub(r"\s+", " ", re.sub(r"[*=~^-]{4,}", " ", text)).strip()


@lru_cache
def documents() -> list[str]:
    """All of it as plain text: a topic's paragraphs of ten words and more, and docstrings whole."""
    paragraphs = [normalize_spaces(p) for topic in topics.topics.values() for p in topic.split("\n\n")]
    return [p for p in paragraphs if len(p.split()) >= 10] + [f"{d.summary} {d.body}" for d in docstrings()]


def split_documents(items: Sequence[Any], share: float = 0.1, seed: int = 0) -> tuple[list, list]:
    """-> to learn from, to be asked about: the same parting for the same seed"""
    order = random.Random(seed).sample(list(items), len(items))
    held = int(share * len(items))
    return order[held:], order[:held]


@lru_cache
def vocabulary(size: int) -> Tokenizer:
    """WordPiece over all documents."""
    return train("wordpiece", documents(), size)


@lru_cache
def rows(vocab_size: int, length: int) -> tuple[Tensor, Tensor]:
    """int64 [N,length] to learn from and [M,length] held out: documents one after the other, none in both"""
    tokenizer = vocabulary(vocab_size)
    learned, held = (
        pack_documents(tokenizer.encode(part, specials=False), length, 2) for part in split_documents(documents())
    )
    return learned, held


def batches(rows: Tensor, objective: Any, size: int) -> Callable[[torch.Generator], Iterator[Batch]]:
    """One pass: full rows [N,L] in a fresh order through an objective, `size` at once; ids 0 to 4 are special."""

    def one_pass(generator: torch.Generator) -> Iterator[Batch]:
        """Rows that would not fill a batch are left out, unless there is no full one."""
        for index in torch.randperm(len(rows), generator=generator).split(size)[: max(1, len(rows) // size)]:
            ids = rows[index]
            given = {"input_ids": ids, "attention_mask": torch.ones_like(ids), "special_tokens_mask": (ids < 5).long()}
            yield {k: v for k, v in objective(given, generator).items() if k != "special_tokens_mask"}

    return one_pass
