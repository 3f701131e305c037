"""The language model that decoding is checked with, and the search for one on which wrong algorithms fail."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

ROWS, IDS = 1024, 1 << 16  # limits of one call, which runs in the grader and cannot be interrupted
CACHED_ROWS = 4096  # rows in the cache; a dropped row is generated again with the same values


class TableModel:
    """Random logits that depend on the whole prefix; the same prefix always gives the same logits."""

    def __init__(self, seed: int, vocab: int, end_id: int, end_bias: float = 0.0, sharpness: float = 1.5) -> None:
        self.seed, self.vocab, self.end_id, self.end_bias, self.sharpness = seed, vocab, end_id, end_bias, sharpness
        self.rows: OrderedDict[tuple[int, ...], Tensor] = OrderedDict()
        self.description = f"a fixed random model over {vocab} words"

    def __call__(self, prefix_ids: Tensor) -> Tensor:
        """ids [N,t] -> logits [N,V]; raises ValueError for anything else, and for more than ROWS or IDS at once."""
        if not isinstance(prefix_ids, Tensor) or prefix_ids.dim() != 2 or prefix_ids.dtype != torch.int64:
            what = (
                f"{prefix_ids.dtype} {list(prefix_ids.shape)}"
                if isinstance(prefix_ids, Tensor)
                else type(prefix_ids).__name__
            )
            raise ValueError(f"step takes int64 ids of shape [N, t], not {what}")
        if prefix_ids.size(0) > ROWS or prefix_ids.numel() > IDS:
            shape = list(prefix_ids.shape)
            raise ValueError(f"step takes at most {ROWS} rows and {IDS} ids in one call, not ids of shape {shape}")
        rows = [self._row(tuple(row)) for row in prefix_ids.tolist()]
        return torch.stack(rows) if rows else torch.zeros(0, self.vocab)

    def _row(self, prefix: tuple[int, ...]) -> Tensor:
        if prefix not in self.rows:
            number = self.seed
            for token in prefix:
                number = (number * 1000003 + token + 7) % (2**61 - 1)
            logits = self.sharpness * torch.randn(self.vocab, generator=torch.Generator().manual_seed(number))
            logits[self.end_id] += self.end_bias
            self.rows[prefix] = logits
            if len(self.rows) > CACHED_ROWS:
                self.rows.popitem(last=False)
        return self.rows[prefix]


def search(
    draw: Any, make: Callable[[int], TableModel], wanted: Callable[[TableModel], bool], tries: int = 300
) -> TableModel:
    """The first of `tries` random models for which `wanted` holds; the last one if none does."""
    for _ in range(tries):
        model = make(draw.integer(0, 2**31))
        if wanted(model):
            break
    return model
