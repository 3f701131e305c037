"""The one loop under every strategy: it yields each step as an event, for those who only want the text and those
who want to watch."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from tfkit.decode.decoders import Decoder
from tfkit.decode.strategies import Strategy


@dataclass(frozen=True)
class Step:
    """One step of B sentences: K hypotheses before it, C candidates, of which the first `kept` survive."""

    log_probs: Tensor  # [B,K,V]
    totals: Tensor  # [B,K], -inf where a place is empty
    parent: Tensor  # [B,C]
    token: Tensor  # [B,C]
    total: Tensor  # [B,C]
    ended: Tensor  # bool [B,C]
    kept: int


@torch.no_grad()
def search(
    decoder: Decoder,
    prompt: Tensor,
    strategy: Strategy,
    end_id: int | None,
    max_new_tokens: int,
    generator: torch.Generator | None = None,
) -> Iterator[Step]:
    """Decode `prompt` [B,t] and yield a `Step` per new token; stops when every hypothesis has ended."""
    batch = len(prompt)
    totals = torch.zeros(batch, 1, dtype=torch.float64, device=prompt.device)
    logits = decoder.start(prompt) if max_new_tokens > 0 else None
    for number in range(max_new_tokens):
        assert logits is not None
        log_probs = logits.double().log_softmax(-1).to(prompt.device).unflatten(0, (batch, -1))  # [B,K,V]
        parent, token, total = strategy.choose(log_probs, totals, generator)
        kept = min(strategy.width, parent.size(1))
        ended = token == (-1 if end_id is None else end_id)
        yield Step(log_probs, totals, parent, token, total, ended, kept)
        first = torch.arange(batch, device=prompt.device).unsqueeze(1) * totals.size(1)
        totals = total[:, :kept].masked_fill(ended[:, :kept], -torch.inf)
        if number + 1 == max_new_tokens or bool((totals == -torch.inf).all()):
            return
        logits = decoder.advance((first + parent[:, :kept]).flatten(), token[:, :kept].flatten())


class Hypotheses:
    """What a search has found so far, rebuilt from its steps: per sentence, `(new token ids, total)`."""

    def __init__(self, batch: int) -> None:
        self.live: list[list[tuple[list[int], float]]] = [[([], 0.0)] for _ in range(batch)]
        self.finished: list[list[tuple[list[int], float]]] = [[] for _ in range(batch)]

    def add(self, step: Step) -> None:
        columns = [part[:, : step.kept].tolist() for part in (step.parent, step.token, step.total, step.ended)]
        for b, rows in enumerate(zip(*columns, strict=True)):
            before, self.live[b] = self.live[b], []
            for parent, token, total, ended in zip(*rows, strict=True):
                grown = [*before[parent][0], token]
                if ended and total > -torch.inf:
                    self.finished[b].append((grown, total))
                # an ended or empty place stays in the list, so that places and rows of the model agree
                self.live[b].append((grown, -torch.inf if ended else total))

    def ranked(self, strategy: Strategy) -> list[list[tuple[list[int], float]]]:
        """Per sentence `(new ids, score)`, best first: the finished, and what was unfinished at the limit."""
        ranked = []
        for finished, live in zip(self.finished, self.live, strict=True):
            found = finished + [(ids, total) for ids, total in live if total > -torch.inf]
            scored = [(ids, strategy.score(total, len(ids))) for ids, total in found]
            ranked.append(sorted(scored, key=lambda pair: -pair[1])[: strategy.width])
        return ranked
