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


def min_p_filter(logits: Tensor, p: float) -> Tensor:
    """`logits [...,V]` with all words at -inf whose probability is below `p` times the likeliest one's, `0 <= p <= 1`
    (Nguyen et al. 2024, arXiv:2407.01082)."""
    probs = logits.softmax(-1)
    return logits.masked_fill(probs < p * probs.amax(-1, keepdim=True), float("-inf"))


def typical_filter(logits: Tensor, mass: float) -> Tensor:
    """`logits [...,V]` with all but the typical words at -inf: those whose surprise, -log p, is nearest to the entropy,
    as many as reach the probability `mass`, `0 < mass < 1` (Meister et al. 2022, arXiv:2202.00666)."""
    log_probs = logits.log_softmax(-1)
    entropy = -(log_probs * log_probs.exp()).nansum(-1, keepdim=True)  # a word at -inf gives NaN, and no surprise
    ordered, index = (-log_probs - entropy).abs().sort(dim=-1)
    reached = logits.gather(-1, index).softmax(-1).cumsum(-1) < mass
    last = reached.sum(-1, keepdim=True).clamp(max=logits.size(-1) - 1)
    dropped = ordered > ordered.gather(-1, last)
    dropped[..., 0] = False
    return logits.masked_fill(torch.zeros_like(dropped).scatter(-1, index, dropped), float("-inf"))


def epsilon_filter(logits: Tensor, epsilon: float | Tensor) -> Tensor:
    """`logits [...,V]` with all words at -inf whose probability is below `epsilon` (a number, or [...,1]), except for
    the likeliest (Hewitt et al. 2022, arXiv:2210.15191)."""
    dropped = (logits.softmax(-1) < epsilon) & (logits < logits.amax(-1, keepdim=True))
    return logits.masked_fill(dropped, float("-inf"))


def eta_filter(logits: Tensor, epsilon: float) -> Tensor:
    """As `epsilon_filter`, with a smaller bound where the distribution is flat: min(epsilon, sqrt(epsilon) exp(-H)), H
    the entropy (Hewitt et al. 2022, eta sampling)."""
    log_probs = logits.log_softmax(-1)
    entropy = -(log_probs * log_probs.exp()).nansum(-1, keepdim=True)
    return epsilon_filter(logits, (epsilon**0.5 * (-entropy).exp()).clamp(max=epsilon))
