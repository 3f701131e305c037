"""What every strategy is given, what it tells those who watch, and the loop of those with one row a sentence."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Protocol

import torch
from torch import Tensor

from tfkit.decode.decoders import Decoder
from tfkit.decode.rules import Applied


@dataclass(frozen=True, eq=False)
class Draft:
    """One round of speculation, which may give several steps: n guesses, of which the first `kept` were right."""

    tokens: Tensor  # [n]
    likely: Tensor  # [n]: what the model gives them
    guessed: Tensor  # [n]: what the draft gave them
    kept: int


@dataclass(frozen=True, eq=False)
class Step:
    """One new token of B sentences: K hypotheses before it, C candidates for the places after it."""

    scores: Tensor  # [B,K,V]: logits, after the rules; log-probabilities where `normal`
    totals: Tensor  # [B,K], -inf where a place is empty
    parent: Tensor  # [B,C]: which hypothesis the candidate continues
    token: Tensor  # [B,C]
    total: Tensor  # [B,C]: -inf: not a continuation at all
    live: Tensor  # [B,W]: which candidates take the places after the step
    ended: Tensor  # bool [B,C]: set aside as finished
    normal: bool = False
    told: Mapping[str, Tensor] = field(default_factory=dict)  # [B,C] each: what else decided; NaN: nothing to tell
    draft: Draft | None = None

    @cached_property
    def log_probs(self) -> Tensor:
        """[B,K,V], in float64; after rules of a beam they are what they are, not normalised again"""
        return self.scores.double() if self.normal else self.scores.double().log_softmax(-1)


@dataclass(eq=False)
class Task:
    """One run. make(model or None, rows): a fresh decoder, of another model, for some of the sentences; limit: of new
    tokens; ends: the ids that end a row; watch: called with each Step, or None; returns: how many a sentence."""

    make: Callable[..., Decoder]
    prompt: Tensor  # [B,t]
    limit: int
    ends: Sequence[int] = ()
    pad: int = 0
    rules: Applied | None = None
    generator: torch.Generator | None = None
    watch: Callable[[Step], Any] | None = None
    returns: int = 1
    real: Tensor | None = None  # bool [B,t], of the prompts; None: all
    end_ids: Tensor = field(init=False)

    def __post_init__(self) -> None:
        self.ends = tuple(end for end in self.ends if end >= 0)
        self.end_ids = torch.tensor(self.ends, dtype=torch.int64, device=self.prompt.device)

    @cached_property
    def decoder(self) -> Decoder:
        """The decoder of all sentences, made when it is first asked for."""
        return self.make()

    def alone(self, row: int) -> Task:
        """The same for one sentence."""
        rows = slice(row, row + 1)
        real = None if self.real is None else self.real[rows]
        return replace(self, prompt=self.prompt[rows], real=real, make=lambda model=None: self.make(model, rows))

    def is_end(self, token: Tensor) -> Tensor:
        """token [...] -> bool [...]: which of them end a row"""
        return token == self.ends[0] if len(self.ends) == 1 else torch.isin(token, self.end_ids)

    def ruled(self, ids: Tensor, logits: Tensor) -> Tensor:
        """ids [N,T], logits [N,V] -> scores [N,V], in float32 at least and where the ids are"""
        scores = wide(logits).to(ids.device)
        return scores if self.rules is None or self.rules.idle(ids.size(1)) else self.rules(self.text(ids), scores)

    def text(self, ids: Tensor) -> Tensor:
        """ids [N,T] as rules read them: what pads a prompt is -1, and comes first (a prefix comes before padding)"""
        if self.real is None:
            return ids
        length = self.prompt.size(1)
        real = self.real.repeat_interleave(len(ids) // len(self.real), 0)
        order = real.byte().argsort(dim=1, stable=True)
        return torch.cat([ids[:, :length].masked_fill(~real, -1).gather(1, order), ids[:, length:]], 1)

    def buffer(self, rows: int) -> Tensor:
        """Ids [B,rows,room]: the prompts, then padding."""
        batch, length = self.prompt.shape
        ids = self.prompt.new_full((batch, rows, length + self.limit), self.pad)
        ids[:, :, :length] = self.prompt.unsqueeze(1)
        return ids


class Strategy(Protocol):
    """How to find a continuation; write your own in the same shape."""

    @property
    def name(self) -> str:
        """What it is called in a trace."""

    @property
    def width(self) -> int:
        """How many hypotheses of a sentence go on at once."""

    def run(self, task: Task) -> Tensor:
        """-> ids [B·returns,T]: prompt, new tokens, padding"""

    def score(self, total: float, generated: int) -> float:
        """How good a hypothesis is, from its summed log-probability; for those who watch."""


def wide(logits: Tensor) -> Tensor:
    """At least float32: sums of probabilities have few digits left in half precision."""
    return logits if logits.dtype in (torch.float32, torch.float64) else logits.float()


class Chain(ABC):
    """One row a sentence: `pick(scores [B,V], generator) -> token [B]` decides, and there is no way back."""

    width = 1

    @abstractmethod
    def pick(self, scores: Tensor, generator: torch.Generator | None) -> Tensor:
        """scores [B,V], after the rules -> token [B]; all chance comes from the generator"""

    def score(self, total: float, generated: int) -> float:
        """The summed log-probability as it is."""
        return total

    def run(self, task: Task) -> Tensor:
        """-> ids [B,T]: prompt, the tokens that were picked, padding"""
        return torch.cat([task.prompt, *self.pieces(task)], 1)

    def pieces(self, task: Task) -> Iterator[Tensor]:
        """The same as it is found, without the prompt: token after token, [B,1], padding where a row has ended"""
        rows = Rows(task)
        if task.limit == 0:
            return
        logits = task.decoder.start(task.prompt)
        while True:
            scores = task.ruled(rows.so_far, logits)
            token = rows.put(scores, self.pick(scores, task.generator))
            yield token.unsqueeze(1)
            if rows.done:
                return
            logits = task.decoder.advance(None, token)


class Rows:
    """The ids of a chain: one row a sentence, padding behind what has ended."""

    def __init__(self, task: Task) -> None:
        self.task, self.end = task, task.prompt.size(1)
        self.ids = task.buffer(1).squeeze(1)  # [B,room]
        self.finished = torch.zeros(len(self.ids), dtype=torch.bool, device=self.ids.device)
        self.totals = torch.zeros(len(self.ids), 1, dtype=torch.float64, device=self.ids.device)  # for the watcher

    @property
    def so_far(self) -> Tensor:
        """[B,T]: the prompts and what was put behind them"""
        return self.ids[:, : self.end]

    @property
    def done(self) -> bool:
        """Whether every row has ended, or there is no room left."""
        return self.end == self.ids.size(1) or (bool(self.task.ends) and bool(self.finished.all()))

    def put(self, scores: Tensor, token: Tensor, others: Tensor | None = None, **more: Any) -> Tensor:
        """scores [B,V], the token [B] chosen by them; others [B,C]: the candidates it was one of, the token first;
        more: of a `Step`, for who watches -> token [B], padding where a row has ended"""
        if self.task.watch:
            self.tell(scores, token.unsqueeze(1) if others is None else others, **more)
        if self.task.ends:
            token = token.masked_fill(self.finished, self.task.pad)
            self.finished = self.finished | self.task.is_end(token)
        self.ids[:, self.end] = token
        self.end += 1
        return token

    def tell(self, scores: Tensor, tokens: Tensor, **more: Any) -> None:
        """tokens [B,C], of which the first was taken"""
        total = self.totals + scores.double().log_softmax(-1).gather(1, tokens)
        first = torch.zeros_like(tokens[:, :1])
        ended = self.task.is_end(tokens) & (torch.arange(tokens.size(1), device=tokens.device) == 0)
        assert self.task.watch is not None
        parent = torch.zeros_like(tokens)
        self.task.watch(Step(scores.unsqueeze(1), self.totals, parent, tokens, total, first, ended, **more))
        self.totals = total.masked_fill(ended, -torch.inf)[:, :1]
