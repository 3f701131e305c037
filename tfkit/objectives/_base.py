"""The base class of objectives that change a text: all random numbers are drawn first, then the batch is computed.

A batch is the padded output of a tokenizer: input_ids int64 [B,L], attention_mask [B,L] (1: a token), and, if some
tokens must not be changed, special_tokens_mask [B,L] (1: special). The result is passed to a model as keyword
arguments.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self

import torch
from torch import Tensor

Batch = dict[str, Tensor]
Draws = dict[str, Tensor]


class Objective(ABC):
    """A way to make inputs and labels out of plain text.

    `corrupt` is a pure function of the batch and its draws: the same draws give the same examples, so that a corruption
    can be tested, repeated and shown. Calling the objective draws and corrupts in one step.

    A module that defines its class as `OBJECTIVE` can be trained by name, `python -m tfkit.train --objective <module>`;
    the class then names the head that it trains (`HEAD`) and builds itself for a tokenizer.
    """

    HEAD: ClassVar[str] = "masked_lm"
    SYMBOLS: ClassVar[tuple[str, ...]] = ()  # special tokens that the tokenizer must have: "mask", "pad", …

    @classmethod
    def from_tokenizer(cls, tokenizer: Any, length: int) -> Self:
        """The objective for rows of `length` tokens of a `tfkit.text.Tokenizer` that has all of `SYMBOLS`. Raises
        ValueError for an unsuitable vocabulary."""
        return cls()

    @classmethod
    def extra_tokens(cls, length: int) -> list[str]:
        """Special tokens that this objective adds to a tokenizer learned for rows of `length` tokens."""
        return []

    @abstractmethod
    def draw(self, batch: Batch, generator: torch.Generator | None = None) -> Draws:
        """All the random numbers that `corrupt` needs for this batch."""

    @abstractmethod
    def corrupt(self, batch: Batch, draws: Draws) -> Batch:
        """-> a model's inputs and its labels (-100: not scored)"""

    def __call__(self, batch: Batch, generator: torch.Generator | None = None) -> Batch:
        """Draws and corrupts: new examples at each call ("dynamic" in RoBERTa's terms)."""
        return self.corrupt(batch, self.draw(batch, generator))


def non_padding(batch: Batch) -> Tensor:
    """[B,L] bool: True at tokens. Raises ValueError if a row has a token after padding."""
    ids = batch["input_ids"]
    if "attention_mask" not in batch:
        return torch.ones_like(ids, dtype=torch.bool)
    mask = batch["attention_mask"].bool()
    if mask.shape != ids.shape:
        raise ValueError(f"attention_mask has shape {list(mask.shape)}, input_ids has {list(ids.shape)}")
    if (mask[:, 1:] & ~mask[:, :-1]).any():
        raise ValueError("attention_mask has a token after padding: pad the rows at their end")
    return mask


def special(batch: Batch) -> Tensor:
    """[B,L] bool: True at padding and special tokens, which must not be changed."""
    untouchable = ~non_padding(batch)
    return untouchable | batch["special_tokens_mask"].bool() if "special_tokens_mask" in batch else untouchable


def uniform(like: Tensor, generator: torch.Generator | None) -> Tensor:
    """Uniform float32 in [0, 1), with the shape and device of `like`."""
    return torch.rand(like.shape, generator=generator, device=like.device)


def ranks(u: Tensor, among: Tensor) -> Tensor:
    """The rank of each number in its row in ascending order, counting only `among`: u, among [B,L] -> int64 [B,L], L
    outside `among`"""
    order = u.masked_fill(~among, torch.inf).argsort(dim=-1, stable=True)
    rank = torch.arange(u.size(-1), device=u.device).expand_as(order)
    return torch.empty_like(order).scatter_(-1, order, rank).masked_fill(~among, u.size(-1))


def drop_and_pad(ids: Tensor, keep: Tensor, fill: int) -> tuple[Tensor, Tensor]:
    """Moves the kept tokens to the start of each row: ids, keep [B,L] -> ids [B,L'] padded with `fill`, mask [B,L']"""
    lengths = keep.sum(-1)
    width = int(lengths.max()) if ids.size(0) else 0
    column = (keep.cumsum(-1) - 1).masked_fill(~keep, width)  # an extra column takes the dropped tokens
    out = ids.new_full((ids.size(0), width + 1), fill).scatter_(1, column, ids.where(keep, fill))[:, :width]
    return out, torch.arange(width, device=ids.device) < lengths[:, None]
