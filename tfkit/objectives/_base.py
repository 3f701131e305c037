"""What the objectives that change a text have in common: first all chance is drawn, then everything is computed.

A batch is what a tokenizer gives, padded: input_ids int64 [B,L], attention_mask [B,L] (1: a token), and, where some
tokens must not be touched, special_tokens_mask [B,L] (1: special). What comes out goes into a model as keywords.
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

    `corrupt` is a pure function of the batch and its draws: the same draws give the same examples, so a corruption can
    be tested, repeated and shown. Calling the objective draws and corrupts in one go.

    A module that names its class as `OBJECTIVE` can be trained by name, `python -m tfkit.train --objective <module>`;
    the class then says which head of a model it trains (`HEAD`) and how it is made for a tokenizer.
    """

    HEAD: ClassVar[str] = "masked_lm"
    SYMBOLS: ClassVar[tuple[str, ...]] = ()  # special tokens that the tokenizer must have: "mask", "pad", …

    @classmethod
    def from_tokenizer(cls, tokenizer: Any, length: int) -> Self:
        """The objective for rows of `length` tokens of a `tfkit.text.Tokenizer` that has all of `SYMBOLS`. Raises
        ValueError for a vocabulary that will not do."""
        return cls()

    @classmethod
    def extra_tokens(cls, length: int) -> list[str]:
        """Special tokens of its own that a tokenizer learned for rows of `length` tokens is given."""
        return []

    @abstractmethod
    def draw(self, batch: Batch, generator: torch.Generator | None = None) -> Draws:
        """All the random numbers that `corrupt` will need for this batch."""

    @abstractmethod
    def corrupt(self, batch: Batch, draws: Draws) -> Batch:
        """-> a model's inputs and its labels (-100: not scored)"""

    def __call__(self, batch: Batch, generator: torch.Generator | None = None) -> Batch:
        """Draws and corrupts: fresh examples each time ("dynamic" in RoBERTa's words)."""
        return self.corrupt(batch, self.draw(batch, generator))


def non_padding(batch: Batch) -> Tensor:
    """[B,L] bool: True where there is a token. Raises ValueError where a row has a token after padding."""
    ids = batch["input_ids"]
    if "attention_mask" not in batch:
        return torch.ones_like(ids, dtype=torch.bool)
    mask = batch["attention_mask"].bool()
    if mask.shape != ids.shape:
        raise ValueError(f"attention_mask has shape {list(mask.shape)}, input_ids has {list(ids.shape)}")
    if (mask[:, 1:] & ~mask[:, :-1]).any():
        raise ValueError("attention_mask has a token after padding: objectives want rows padded at their end")
    return mask


def special(batch: Batch) -> Tensor:
    """[B,L] bool: True where nothing may be changed: padding and special tokens."""
    untouchable = ~non_padding(batch)
    return untouchable | batch["special_tokens_mask"].bool() if "special_tokens_mask" in batch else untouchable


def uniform(like: Tensor, generator: torch.Generator | None) -> Tensor:
    """float32 in [0, 1), of the shape and on the device of `like`"""
    return torch.rand(like.shape, generator=generator, device=like.device)


def ranks(u: Tensor, among: Tensor) -> Tensor:
    """The place of each number in its row, from the smallest, counting only `among`: u, among [B,L] -> int64 [B,L], L
    where not `among`"""
    order = u.masked_fill(~among, torch.inf).argsort(dim=-1, stable=True)
    place = torch.arange(u.size(-1), device=u.device).expand_as(order)
    return torch.empty_like(order).scatter_(-1, order, place).masked_fill(~among, u.size(-1))


def drop_and_pad(ids: Tensor, keep: Tensor, fill: int) -> tuple[Tensor, Tensor]:
    """What is kept of each row moves to its start: ids, keep [B,L] -> ids [B,L'] with `fill` behind, mask [B,L']"""
    lengths = keep.sum(-1)
    width = int(lengths.max()) if ids.size(0) else 0
    place = (keep.cumsum(-1) - 1).masked_fill(~keep, width)  # one column more takes what is dropped
    out = ids.new_full((ids.size(0), width + 1), fill).scatter_(1, place, ids.where(keep, fill))[:, :width]
    return out, torch.arange(width, device=ids.device) < lengths[:, None]
