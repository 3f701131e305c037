"""Span corruption (Raffel et al. 2020, arXiv:1910.10683, 3.1.4): some spans of a text are removed, and
the model generates them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import torch
from torch import Tensor

from ._base import Batch, Draws, Objective, drop_and_pad, non_padding, ranks, uniform
from .cross_entropy import cross_entropy

SENTINELS = ("<extra_{}>", "<extra_id_{}>")  # the names used here, and T5's
LEARNED = 32  # the least number of sentinels in a vocabulary for span corruption


def span_corruption(
    tokens: Sequence[Any], spans: Sequence[tuple[int, int]], sentinels: Sequence[Any]
) -> tuple[list[Any], list[Any]]:
    """Each span is replaced by a sentinel; the target repeats the sentinel, followed by the span.

    tokens: a list; spans: [start, end) pairs, sorted, neither touching nor empty; sentinels: more than spans
    -> (inputs, targets), lists; the targets end with the next sentinel.

    In the paper's example, "Thank you for inviting me to your party last week .", only "for inviting" and "last" are
    dropped. The target is "<X> for inviting <Y> last <Z>": the final "." stays in the input, and is not in the target.
    """
    inputs, targets, past = [], [], 0
    for (start, end), sentinel in zip(spans, sentinels[: len(spans)], strict=True):
        inputs += [*tokens[past:start], sentinel]
        targets += [sentinel, *tokens[start:end]]
        past = end
    return [*inputs, *tokens[past:]], [*targets, sentinels[len(spans)]]


@dataclass(frozen=True)
class SpanCorruption(Objective):
    """T5's version: `density` of the tokens in spans of `mean_span` on average, sentinels counting down from the first.

    A row that ends in `eos_id` keeps it out of the spans; the labels end in the next sentinel and `eos_id`. Returns
    input_ids, attention_mask [B,S] and labels [B,T]. `n_sentinels`: the number of sentinel ids (T5's vocabulary has
    100); a row with more spans raises ValueError, as the ids below are ordinary words.
    """

    first_sentinel: int
    eos_id: int
    pad_id: int = 0
    density: float = 0.15
    mean_span: float = 3.0
    n_sentinels: int = 100
    HEAD = "seq2seq_lm"
    SYMBOLS = ("end", "pad")

    @classmethod
    def from_tokenizer(cls, tokenizer: Any, length: int) -> Self:
        """Uses the sentinels of the vocabulary. Raises ValueError if it has none, too few for rows of `length` tokens,
        or if their ids do not count down."""
        ids = sentinel_ids(tokenizer)
        objective = cls(ids[0], tokenizer.end_id, tokenizer.pad_id, n_sentinels=len(ids))
        if (needed := objective.sentinels(length)) > len(ids):
            raise ValueError(f"rows of {length} tokens need {needed} sentinels; the vocabulary has {len(ids)}")
        return objective

    @classmethod
    def extra_tokens(cls, length: int) -> list[str]:
        """Sentinels, the last first, so that their ids count down."""
        count = max(LEARNED, cls(0, 0).sentinels(length))
        return [SENTINELS[0].format(i) for i in reversed(range(count))]

    def __post_init__(self) -> None:
        if not 0 < self.density < 1 or self.mean_span < 1:
            raise ValueError(
                f"density={self.density}, mean_span={self.mean_span}: must be between 0 and 1, and at least 1"
            )

    def sentinels(self, length: int) -> int:
        """The number of sentinels that a row of `length` tokens needs: one for each span, and one for the end."""
        return int(self.counts(torch.tensor([length]))[1]) + 1

    def counts(self, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """For rows with these numbers of tokens [B]: the numbers of dropped tokens and of spans, int64 [B] each."""
        dropped = (lengths * self.density).round().clamp(min=1).long().minimum((lengths - 1).clamp(min=0))
        spans = (dropped / self.mean_span).round().clamp(min=1).long().minimum(lengths - dropped).minimum(dropped)
        return dropped, spans

    def draw(self, batch: Batch, generator: torch.Generator | None = None) -> Draws:
        """noise_u, clean_u uniform [B,L]: where the dropped tokens, and the kept ones, are cut into spans"""
        return {"noise_u": uniform(batch["input_ids"], generator), "clean_u": uniform(batch["input_ids"], generator)}

    def corrupt(self, batch: Batch, draws: Draws) -> Batch:
        """input_ids and attention_mask [B,S], a sentinel for each span, and labels [B,T], padded with -100."""
        ids, mask = batch["input_ids"], non_padding(batch)
        there = min(self.n_sentinels, self.first_sentinel + 1)
        if (needed := self.sentinels(ids.size(1))) > there:
            raise ValueError(f"rows of {ids.size(1)} tokens need {needed} sentinels; there are only {there}")
        free = mask & (ids != self.eos_id)
        noise = self.noise(free, **draws)
        first = noise & ~torch.nn.functional.pad(noise, (1, 0))[:, :-1]
        sentinel = self.first_sentinel - (first.cumsum(-1) - 1)
        inputs, kept = drop_and_pad(ids.where(~first, sentinel), mask & (first | ~noise), self.pad_id)
        return {"input_ids": inputs, "attention_mask": kept, "labels": self.targets(ids, noise, first)}

    def targets(self, ids: Tensor, noise: Tensor, first: Tensor) -> Tensor:
        """The contents of the spans, each after its sentinel, and one more sentinel at the end of the row."""
        rows, spans = ids.size(0), first.sum(-1, keepdim=True)
        sentinel = self.first_sentinel - (first.cumsum(-1) - 1)
        pairs = torch.stack([sentinel, ids], -1).flatten(1)  # [B,2L]: the position of the sentinel, then of the token
        ends = torch.cat([self.first_sentinel - spans, torch.full_like(spans, self.eos_id)], 1)
        keep = torch.stack([first, noise], -1).flatten(1)
        keep = torch.cat([keep, keep.new_ones(rows, 2)], 1)
        return drop_and_pad(torch.cat([pairs, ends], 1), keep, -100)[0]

    def noise(self, free: Tensor, noise_u: Tensor, clean_u: Tensor) -> Tensor:
        """bool [B,L]: the dropped tokens. Rows alternate clean and noisy spans, clean first, all cuts equally
        likely."""
        lengths = free.sum(-1)
        dropped, spans = self.counts(lengths)
        width = free.size(1)
        clean, noisy = (
            random_partition(lengths - dropped, spans, clean_u),
            random_partition(dropped, spans, noise_u),
        )  # [B,L]: lengths of spans
        ends = torch.stack([clean, noisy], -1).flatten(1).cumsum(-1)  # [B,2L]
        position = torch.arange(width, device=free.device).expand(free.size(0), -1).contiguous()
        inside = torch.searchsorted(ends, position, right=True)  # how many spans have ended before
        # rows may begin with special tokens: only other tokens are counted
        nth = (free.cumsum(-1) - 1).clamp(min=0)
        return (inside % 2 == 1).gather(1, nth) & free

    @staticmethod
    def loss(logits: Tensor, labels: Tensor) -> Tensor:
        """logits [B,T,V], labels [B,T] -> scalar"""
        return cross_entropy(logits, labels)


def random_partition(totals: Tensor, parts: Tensor, u: Tensor) -> Tensor:
    """Cuts each total into a number of parts, none empty, all ways equally likely.

    totals, parts [B] with parts <= totals, u uniform [B,L] -> int64 [B,L]: the parts' lengths, then zeros
    """
    position = torch.arange(u.size(1), device=u.device)
    cuts = ranks(u, position < totals[:, None] - 1) < parts[:, None] - 1  # [B,L]: a part ends after this item
    part = torch.nn.functional.pad(cuts, (1, 0))[:, :-1].cumsum(-1)  # the part of each item
    return torch.zeros_like(part).scatter_add_(1, part, (position < totals[:, None]).long())


def sentinel_ids(tokenizer: Any) -> list[int]:
    """The ids of a tokenizer's sentinels, from the first, counting down. Raises ValueError if there are none."""
    for name in SENTINELS:
        ids: list[int] = []
        while (found := tokenizer.inner.token_to_id(name.format(len(ids)))) is not None:
            ids.append(found)
        if ids:
            break
    else:
        raise ValueError(f"the vocabulary has no sentinels {' or '.join(n.format(0) for n in SENTINELS)}, …")
    if ids != list(range(ids[0], ids[0] - len(ids), -1)):
        raise ValueError(f"the ids of {name.format(0)} and the sentinels after it do not count down one by one")
    return ids


OBJECTIVE = SpanCorruption
