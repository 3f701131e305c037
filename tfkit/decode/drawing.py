"""Sampling: with the random numbers as arguments, so that every right answer gives the same words, and with torch's."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor


def sample_token(logits: Tensor, u: Tensor, temperature: float = 1.0) -> Tensor:
    """Inverse transform sampling: the word whose interval of cumulative probability contains the draw.

    logits [B,V], u [B] with 0 <= u < 1, temperature >= 0 -> int64 [B]: the smallest id whose cumulative probability
    under softmax(logits / temperature) exceeds u; at temperature 0 the id of the largest logit. A word
    with logit -inf is never drawn.
    """
    if temperature == 0:
        return logits.argmax(dim=-1)
    probs = torch.softmax(logits.double() / temperature, dim=-1)  # [B,V]; sums of many words need the precision
    passed = probs.cumsum(dim=-1) <= u.unsqueeze(-1)  # [B,V]: the words that end to the left of the draw
    return passed.sum(dim=-1)


def accept_draft(
    draft_ids: list[int], draft_probs: Tensor, target_probs: Tensor, accept_u: Sequence[float], last_u: float
) -> list[int]:
    """The accepted draft tokens and one more token: distributed as if the model had sampled alone.

    draft_ids list of n >= 1 ids, drawn from draft_probs [n,V]; target_probs [n+1,V] are the model's own, with one row
    for what follows the last draft token; accept_u list of n draws and last_u one draw, uniform from 0 to 1
    -> list of the accepted ids and one more (speculative sampling: Leviathan et al. 2023, algorithm 1)
    """
    u = torch.tensor([last_u], dtype=torch.float64, device=target_probs.device)
    for i, token in enumerate(draft_ids):
        p, q = target_probs[i], draft_probs[i]
        if accept_u[i] >= p[token] / q[token]:  # rejected: q gave this word more than its share
            missing = (p - q).clamp(min=0)  # where the draft gave too little; the log is a logit that needs no norm
            return draft_ids[:i] + sample_token(missing.log().unsqueeze(0), u).tolist()
    return draft_ids + sample_token(target_probs[-1:].log(), u).tolist()


def draw(probs: Tensor, generator: torch.Generator | None = None) -> Tensor:
    """probs [B,V], each row with a sum above 0 -> int64 [B]: one draw of each row, on a CPU and with CUDA that of
    `torch.multinomial` for the same state of the generator. Raises RuntimeError for what are no probabilities, on a CPU
    only: elsewhere NaN scores give some token silently, as the host would wait for the device at each token to look at
    them (with CUDA, `torch.multinomial` does so twice)."""
    if probs.device.type == "cpu":
        return torch.multinomial(probs, 1, generator=generator).squeeze(1)
    # of exponential arrivals with the rates p, the i-th is first with probability p_i
    arrivals = torch.empty_like(probs).exponential_(1.0, generator=generator)
    return (probs / arrivals).argmax(-1)
