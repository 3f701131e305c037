"""How the next tokens are chosen: each strategy looks at all continuations and names the candidates, best first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import torch
from torch import Tensor

from tfkit.decode.filters import top_k_filter, top_p_filter


class Candidates(NamedTuple):
    """Continuations of each sentence, best first, all [B,C]; the first `width` survive the step."""

    parent: Tensor  # the live hypothesis it continues
    token: Tensor
    total: Tensor  # summed log-probability, -inf: not a continuation at all


class Strategy(Protocol):
    """What `search` asks of a strategy; write your own in the same shape."""

    @property
    def name(self) -> str: ...
    @property
    def width(self) -> int: ...
    def choose(self, log_probs: Tensor, totals: Tensor, generator: torch.Generator | None) -> Candidates: ...
    def score(self, total: float, generated: int) -> float: ...


@dataclass(frozen=True)
class Greedy:
    """The likeliest token, each time."""

    name = "greedy"
    width = 1

    def choose(self, log_probs: Tensor, totals: Tensor, generator: torch.Generator | None = None) -> Candidates:
        """log_probs [B,1,V], totals [B,1]"""
        value, token = log_probs[:, 0].max(-1, keepdim=True)
        return Candidates(torch.zeros_like(token), token, totals + value)

    def score(self, total: float, generated: int) -> float:
        return total


GREEDY = Greedy()


@dataclass(frozen=True)
class Beam:
    """The best `size` of all continuations; score = sum of log-probabilities / generated ** length_penalty.

    Ended hypotheses are set aside; no early stop. Candidates that just missed a place are named too, to be seen.
    """

    size: int = 4
    length_penalty: float = 1.0
    name = "beam"

    def __post_init__(self) -> None:
        if self.size < 1:
            raise ValueError(f"Beam(size={self.size}): a beam holds at least one hypothesis")

    @property
    def width(self) -> int:
        return self.size

    def choose(self, log_probs: Tensor, totals: Tensor, generator: torch.Generator | None = None) -> Candidates:
        """log_probs [B,K,V], totals [B,K]"""
        vocab = log_probs.size(-1)
        every = (totals.unsqueeze(-1) + log_probs).flatten(1)  # [B,K*V]
        best = every.topk(min(2 * self.size, every.size(1)))
        return Candidates(best.indices // vocab, best.indices % vocab, best.values)

    def score(self, total: float, generated: int) -> float:
        return total / max(generated, 1) ** self.length_penalty


@dataclass(frozen=True)
class Sample:
    """A draw from the model's distribution: flatter or sharper by `temperature`, cut by `top_k`, then by `top_p`."""

    temperature: float = 1.0
    top_k: int | None = None
    top_p: float | None = None
    name = "sample"
    width = 1

    def __post_init__(self) -> None:
        if self.temperature <= 0:
            raise ValueError(
                f"Sample(temperature={self.temperature}): must be above 0; for no chance at all use Greedy()"
            )

    def choose(self, log_probs: Tensor, totals: Tensor, generator: torch.Generator | None = None) -> Candidates:
        """log_probs [B,1,V], totals [B,1]; the totals stay the model's own, whatever the cuts."""
        logits = log_probs[:, 0] / self.temperature
        if self.top_k is not None:
            logits = top_k_filter(logits, min(self.top_k, logits.size(-1)))
        if self.top_p is not None and self.top_p < 1:
            logits = top_p_filter(logits, self.top_p)
        token = torch.multinomial(logits.softmax(-1), 1, generator=generator)
        return Candidates(torch.zeros_like(token), token, totals + log_probs[:, 0].gather(1, token))

    def score(self, total: float, generated: int) -> float:
        return total
