"""Truncated sampling: sets the logits of unlikely words to -inf."""

from __future__ import annotations

import torch
from torch import Tensor


def top_k_filter(logits: Tensor, k: int) -> Tensor:
    """`logits [...,V]` with all but the `k` largest at -inf, `1 <= k <= V` (Fan et al. 2018)."""
    smallest_kept = logits.topk(k, dim=-1).values[..., -1:]  # [...,1]
    return logits.masked_fill(logits < smallest_kept, float("-inf"))


def top_p_filter(logits: Tensor, p: float) -> Tensor:
    """`logits [...,V]` with all but the nucleus at -inf: the smallest set whose probability reaches `p`, `0 < p < 1`.

    At least one word stays (Holtzman et al. 2020, "The Curious Case of Neural Text Degeneration").
    """
    ordered, index = logits.sort(dim=-1, descending=True)
    probs = torch.softmax(ordered.float(), dim=-1)  # a sum of many small terms: bfloat16 would lose them
    before = probs.cumsum(dim=-1) - probs  # the probability of all likelier words: 0 for the first, so it stays
    dropped = torch.zeros_like(logits, dtype=torch.bool).scatter(-1, index, before >= p)
    return logits.masked_fill(dropped, float("-inf"))
