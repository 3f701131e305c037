"""Sentence pairs as padded batches: pairs of similar length go together, so that there is little padding."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from tfkit.text.vocabulary import pad


@dataclass(frozen=True)
class Batch:
    """`src` [B,S] and `tgt` [B,T], int64, padded on the right; `tokens` and `targets`: their numbers without
    padding."""

    src: Tensor
    tgt: Tensor
    tokens: int
    targets: int

    def to(self, device: torch.device | str) -> Batch:
        """The same batch on a device."""
        return Batch(self.src.to(device), self.tgt.to(device), self.tokens, self.targets)


class PairBatches:
    """Batches of about `tokens` padded target positions. The same generator state gives the same order.

    `pairs` holds (source ids, target ids), including end tokens. Raises ValueError when there are none.
    """

    def __init__(self, pairs: Sequence[tuple[list[int], list[int]]], tokens: int, pad_id: int) -> None:
        if not pairs:
            raise ValueError("there are no pairs to batch")
        self.pairs, self.tokens, self.pad_id = list(pairs), tokens, pad_id

    def __call__(self, generator: torch.Generator) -> Iterator[Batch]:
        """One pass over the data: similar lengths together but shuffled among themselves, batches in random order."""
        noise = torch.rand(len(self.pairs), generator=generator).tolist()
        # the noise breaks ties and near-ties differently each time
        key = lambda i: max(map(len, self.pairs[i])) + 2 * noise[i]
        groups = list(self._groups(sorted(range(len(self.pairs)), key=key)))
        for g in torch.randperm(len(groups), generator=generator).tolist():
            yield self._batch([self.pairs[i] for i in groups[g]])

    def _groups(self, order: Sequence[int]) -> Iterator[list[int]]:
        group: list[int] = []
        longest = 0
        for i in order:
            longest = max(longest, *map(len, self.pairs[i]))
            if group and longest * (len(group) + 1) > self.tokens:
                yield group
                group, longest = [], max(map(len, self.pairs[i]))
            group.append(i)
        yield group

    def _batch(self, pairs: Sequence[tuple[list[int], list[int]]]) -> Batch:
        src, tgt = pad([s for s, _ in pairs], self.pad_id), pad([t for _, t in pairs], self.pad_id)
        targets = sum(len(t) for _, t in pairs)
        return Batch(src, tgt, targets + sum(len(s) for s, _ in pairs), targets)
