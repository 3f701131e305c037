"""The strategies that `generate` and `record` take, as small frozen dataclasses of settings."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from tfkit.decode.beam_hypotheses import BeamHypotheses, TextbookHypotheses
from tfkit.decode.checks import require_number, require_whole
from tfkit.decode.drawing import draw
from tfkit.decode.filters import (
    epsilon_filter,
    eta_filter,
    min_p_filter,
    top_k_filter,
    top_p_filter,
    typical_filter,
)
from tfkit.decode.groups import run_groups
from tfkit.decode.search import GenerationRequest, SingleSequence


@dataclass(frozen=True)
class Greedy(SingleSequence):
    """The likeliest token at each step."""

    name = "greedy"

    def probabilities(self, scores: Tensor) -> Tensor:
        """scores [...,V] -> [...,V], one-hot at the likeliest token"""
        return torch.zeros_like(scores).scatter(-1, scores.argmax(-1, keepdim=True), 1.0)

    def pick(self, scores: Tensor, generator: torch.Generator | None = None) -> Tensor:
        """scores [B,V] -> [B]"""
        return scores.argmax(-1)


GREEDY = Greedy()


@dataclass(frozen=True)
class Sample(SingleSequence):
    """A draw from the model's distribution: flattened or sharpened by `temperature`, then cut by `top_k`, `top_p` and
    the others, in this order, each of which sees what the earlier ones left. See `filters` for what they do; None: not
    at all."""

    temperature: float = 1.0
    top_k: int | None = None
    top_p: float | None = None
    min_p: float | None = None
    typical_p: float | None = None
    epsilon_cutoff: float | None = None
    eta_cutoff: float | None = None
    name = "sample"
    samples = True

    def __post_init__(self) -> None:
        require_number("Sample(temperature", self.temperature, above=0, advice="; use Greedy() for no randomness")
        if self.top_k is not None:
            require_whole("Sample(top_k", self.top_k, least=1, advice=", or None to keep all tokens")
        for name in ("top_p", "typical_p"):
            if (share := getattr(self, name)) is not None:
                require_number(f"Sample({name}", share, above=0, most=1)
        for name in ("min_p", "epsilon_cutoff", "eta_cutoff"):
            if (least := getattr(self, name)) is not None:
                require_number(f"Sample({name}", least, least=0, most=1)

    def stages(self, scores: Tensor) -> Iterator[tuple[str, Tensor]]:
        """The stages of processing scores [...,V], in order: a name, and the scores after it."""
        if self.temperature != 1:
            scores = scores / self.temperature
            yield f"temperature {self.temperature:g}", scores
        if self.top_k is not None and self.top_k < scores.size(-1):
            scores = top_k_filter(scores, self.top_k)
            yield f"top-k {self.top_k}", scores
        for name, share, keeps_all, cut in self.cuts():
            if share is not None and share != keeps_all:
                scores = cut(scores, share)
                yield f"{name} {share:g}", scores

    def cuts(self) -> list[tuple[str, float | None, float, Callable[[Tensor, float], Tensor]]]:
        """The cuts by probability, in order: a name, the setting, the value with which it keeps every token, and the
        filter."""
        return [
            ("top-p", self.top_p, 1.0, top_p_filter),
            ("min-p", self.min_p, 0.0, min_p_filter),
            ("typical-p", self.typical_p, 1.0, typical_filter),
            ("epsilon", self.epsilon_cutoff, 0.0, epsilon_filter),
            ("eta", self.eta_cutoff, 0.0, eta_filter),
        ]

    def probabilities(self, scores: Tensor) -> Tensor:
        """scores [...,V] -> [...,V]"""
        return [scores, *(cut for _, cut in self.stages(scores))][-1].softmax(-1)

    def pick(self, scores: Tensor, generator: torch.Generator | None = None) -> Tensor:
        """scores [B,V] -> [B]"""
        return draw(self.probabilities(scores), generator)


@dataclass(frozen=True)
class Beam:
    """The best `size` hypotheses side by side; score = sum of log-probabilities / generated ** length_penalty.

    The same as transformers' with num_beams=size. early_stopping: True: stop when `size` hypotheses have ended; False:
    when the best unfinished one's current score is no better than the worst finished one's; "never": when it can no
    longer become better.
    """

    size: int = 4
    length_penalty: float = 1.0
    early_stopping: bool | str = False
    name = "beam"
    HYPOTHESES = BeamHypotheses

    def __post_init__(self) -> None:
        require_whole(f"{type(self).__name__}(size", self.size, least=1, advice=" hypothesis")
        object.__setattr__(self, "size", int(self.size))
        require_number(f"{type(self).__name__}(length_penalty", self.length_penalty)
        if self.early_stopping not in (True, False, "never"):
            raise ValueError(f'early_stopping={self.early_stopping!r} must be True, False or "never"')

    @property
    def width(self) -> int:
        """The number of hypotheses that are kept."""
        return self.size

    def run(self, request: GenerationRequest) -> Tensor:
        """-> ids [B·num_return_sequences,T], the best first"""
        return run_groups(request, [self.HYPOTHESES(request, self.size, self.length_penalty, self.early_stopping)])

    def score(self, total: float, generated: int) -> float:
        """The summed log-probability over a power of the length: 0 favours short texts, above 0 longer ones."""
        return total / float(max(generated, 1) ** self.length_penalty)


@dataclass(frozen=True)
class TextbookBeam(Beam):
    """Beam search as `beam_search` spells it out: a finished hypothesis keeps its place for that step only, and there
    is no early stopping."""

    HYPOTHESES = TextbookHypotheses


@dataclass(frozen=True)
class Diverse(Beam):
    """`groups` beams of size / groups hypotheses each, one after the other; a token loses `penalty` for each hypothesis
    of an earlier group that took it in the same step (Vijayakumar et al. 2016, arXiv:1610.02424, with Hamming
    diversity)."""

    groups: int = 2
    penalty: float = 0.5
    name = "diverse"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.groups < 1 or self.size % self.groups:
            raise ValueError(f"Diverse(size={self.size}, groups={self.groups}): groups must divide size")
        if self.penalty < 0:
            raise ValueError(f"Diverse(penalty={self.penalty}): must be 0 or more; 0 lets groups repeat each other")

    def run(self, request: GenerationRequest) -> Tensor:
        """-> ids [B·num_return_sequences,T]; a group is penalised for the choices of earlier groups in the same step"""
        num_beams = self.size // self.groups
        groups = [
            self.HYPOTHESES(request, num_beams, self.length_penalty, self.early_stopping) for _ in range(self.groups)
        ]
        return run_groups(request, groups, self.penalty)
