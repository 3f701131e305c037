"""The language reference that comes with every Python, as bytes: a text that needs no tokenizer.

It differs a little from one version of Python to the next. (c) Python Software Foundation, under its licence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache

import torch
import torch.nn.functional as F
from torch import Tensor, nn

BYTES = 128  # ids from here on are free for a model's own words
MASK = BYTES


@lru_cache
def train_test_bytes() -> tuple[Tensor, Tensor]:
    """Training bytes int64 [N] and held-out bytes [M], a tenth of all: whole topics, in a fixed random order."""
    from pydoc_data.topics import topics

    names = sorted(topics)
    order = torch.randperm(len(names), generator=torch.Generator().manual_seed(0)).tolist()
    held = max(1, len(names) // 10)
    parts = ("\n\n".join(topics[names[i]] for i in part) for part in (order[held:], order[:held]))
    learned, test_rows = (torch.tensor(list(text.encode("ascii", "ignore"))) for text in parts)
    return learned, test_rows


def random_pieces(text: Tensor, length: int, size: int) -> Callable[[torch.Generator], Iterator[Tensor]]:
    """Endless batches int64 [size,length] of random pieces of the text."""

    def draw(generator: torch.Generator) -> Iterator[Tensor]:
        """Pieces may overlap; none begins in the last `length` bytes."""
        while True:
            starts = torch.randint(len(text) - length, (size, 1), generator=generator)
            yield text[starts + torch.arange(length)]

    return draw


def next_byte_loss(model: nn.Module, rows: Tensor) -> Tensor:
    """rows [B,1+L] -> the mean nats of each byte after the first, a scalar; the model is a causal language model."""
    return F.cross_entropy(model(input_ids=rows[:, :-1]).logits.transpose(1, 2), rows[:, 1:])


@torch.no_grad()
def held_out_nats(model: nn.Module, length: int, rows: int = 128) -> list[float]:
    """Nats of the held-out bytes at each of `length` positions, given all bytes before them: a mean over `rows` pieces
    that are the same for all seeds. Leaves the model in eval mode."""
    test_rows = next(random_pieces(train_test_bytes()[1], length + 1, rows)(torch.Generator().manual_seed(10_000)))
    logits = model.eval()(input_ids=test_rows[:, :-1]).logits
    return F.cross_entropy(logits.transpose(1, 2), test_rows[:, 1:], reduction="none").mean(0).tolist()
