"""English text that comes with every Python: the topics of the language reference, and the library's docstrings."""

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
    """The first line of the docstring of a class or function, and the rest; `file`: its file in the library."""

    file: str
    summary: str
    body: str


@lru_cache
def docstrings() -> list[Docstring]:
    """Those with a summary of 4 to 20 words and a body of at least 10 words, without repeats, in the library's
    order."""
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
    """Joins lines, removes rules of four or more *, =, ~, ^ or -, and turns runs of white space into one space."""
    return re.sub(r"\s+", " ", re.sub(r"[*=~^-]{4,}", " ", text)).strip()


@lru_cache
def documents() -> list[str]:
    """All documents as plain text: the paragraphs of topics with at least ten words, and whole docstrings."""
    paragraphs = [normalize_spaces(p) for topic in topics.topics.values() for p in topic.split("\n\n")]
    return [p for p in paragraphs if len(p.split()) >= 10] + [f"{d.summary} {d.body}" for d in docstrings()]


def split_documents(items: Sequence[Any], share: float = 0.1, seed: int = 0) -> tuple[list, list]:
    """-> training and test items; the same split for the same seed"""
    order = random.Random(seed).sample(list(items), len(items))
    held = int(share * len(items))
    return order[held:], order[:held]


@lru_cache
def vocabulary(size: int) -> Tokenizer:
    """A WordPiece tokenizer trained on all documents."""
    return train("wordpiece", documents(), size)


@lru_cache
def rows(vocab_size: int, length: int) -> tuple[Tensor, Tensor]:
    """Training rows int64 [N,length] and held-out rows [M,length]: concatenated documents, none in both"""
    tokenizer = vocabulary(vocab_size)
    learned, held = (
        pack_documents(tokenizer.encode(part, specials=False), length, 2) for part in split_documents(documents())
    )
    return learned, held


def batches(rows: Tensor, objective: Any, size: int) -> Callable[[torch.Generator], Iterator[Batch]]:
    """One pass: full rows [N,L] in a new order through an objective, `size` at a time; ids 0 to 4 are special."""

    def one_pass(generator: torch.Generator) -> Iterator[Batch]:
        """An incomplete last batch is dropped, unless it is the only one."""
        for index in torch.randperm(len(rows), generator=generator).split(size)[: max(1, len(rows) // size)]:
            ids = rows[index]
            given = {"input_ids": ids, "attention_mask": torch.ones_like(ids), "special_tokens_mask": (ids < 5).long()}
            yield {k: v for k, v in objective(given, generator).items() if k != "special_tokens_mask"}

    return one_pass
