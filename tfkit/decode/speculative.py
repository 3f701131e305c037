"""Speculative decoding: a small draft model proposes tokens, and the large model checks all of them in one pass
(Leviathan et al. 2022, arXiv:2211.17192). The output has the distribution of the large model alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from tfkit.decode.decoders import Decoder
from tfkit.decode.drawing import draw
from tfkit.decode.search import Draft, GenerationRequest, SequenceBuffer
from tfkit.decode.strategies import GREEDY, Greedy, Sample


@dataclass(frozen=True)
class Speculative:
    """draft: a model of the same kind and vocabulary; tokens: how many it proposes at a time; base: the strategy,
    `Greedy()` or a `Sample`. Sentences are decoded one by one, as the number of accepted draft tokens differs.

    A draft token x is accepted with probability min(1, p(x) / q(x)), p being the model's probability and q the draft's.
    The first rejected token is replaced by a draw from max(p - q, 0), normalised; if all are accepted, a draw from p
    follows.
    """

    draft: Any
    tokens: int = 4
    base: Greedy | Sample = GREEDY
    name = "speculative"
    width = 1

    def __post_init__(self) -> None:
        if self.tokens < 1:
            raise ValueError(f"Speculative(tokens={self.tokens}): the draft model must propose at least one token")

    def score(self, total: float, generated: int) -> float:
        """The summed log-probability."""
        return total

    def run(self, request: GenerationRequest) -> Tensor:
        """-> ids [B,T], sentence by sentence. Raises ValueError for a draft with another vocabulary."""
        found = [self.decode_one(request.for_row(row)) for row in range(len(request.prompt))]
        longest = max(ids.size(1) for ids in found)
        return torch.cat([F.pad(ids, (0, longest - ids.size(1)), value=request.pad_token_id) for ids in found])

    def decode_one(self, request: GenerationRequest) -> Tensor:
        """One sentence: the draft model proposes, the model accepts or rejects, until it ends. -> ids [1,T]"""
        buffer = SequenceBuffer(request)
        model, draft = IncrementalReader(request.decoder), IncrementalReader(request.new_decoder(self.draft))
        while not buffer.done:
            start = buffer.length
            ids, draft_probs = self.propose(request, draft, buffer)
            scores, target_probs = self.score_draft(request, model, ids, start)
            if draft_probs.size(1) != target_probs.size(1):
                raise ValueError(
                    f"the draft's vocabulary has {draft_probs.size(1)} tokens, the model's {target_probs.size(1)}: "
                    "they must be equal"
                )
            n_accepted, next_token = accept_or_resample(target_probs, draft_probs, ids[0, start:], request.generator)
            draft_of = draft_round(ids[0, start:], target_probs, draft_probs, n_accepted) if request.on_step else None
            for token_index in range(n_accepted):
                buffer.append(scores[token_index : token_index + 1], ids[:, start + token_index], draft=draft_of)
            if not buffer.done:
                rejected = ids[:, start + n_accepted : start + n_accepted + 1]
                buffer.append(
                    scores[n_accepted : n_accepted + 1],
                    next_token,
                    torch.cat([next_token[:, None], rejected], 1),
                    draft=draft_of,
                )
            model.crop(start + n_accepted)
            draft.crop(start + n_accepted)
        return buffer.current_ids

    def propose(
        self, request: GenerationRequest, draft: IncrementalReader, buffer: SequenceBuffer
    ) -> tuple[Tensor, Tensor]:
        """-> ids [1,T+n] with n draft tokens appended, and the distributions [n,V] that they were drawn from"""
        ids, draft_probs = buffer.current_ids, []
        for _ in range(min(self.tokens, buffer.ids.size(1) - buffer.length - 1)):
            draft_probs.append(self.base.probabilities(request.process_logits(ids, draft.read(ids)[-1:])))
            token = draw(draft_probs[-1], request.generator)[:, None]
            ids = torch.cat([ids, token], 1)
            if request.eos_token_ids and bool(request.is_end(token)):
                break
        return ids, torch.cat(draft_probs) if draft_probs else torch.zeros(
            0, draft.read(ids).size(-1), device=ids.device
        )

    def score_draft(
        self, request: GenerationRequest, model: IncrementalReader, ids: Tensor, start: int
    ) -> tuple[Tensor, Tensor]:
        """ids [1,T+n], T = start -> scores and probabilities [n+1,V]: of the draft tokens and of the one after them"""
        first = [model.read(ids[:, :start])] if model.length == 0 else []
        logits = torch.cat([*first, model.read(ids)]) if not first or ids.size(1) > start else first[0]
        scores = [request.process_logits(ids[:, : start + n], row[None]) for n, row in enumerate(logits)]
        return torch.cat(scores), self.base.probabilities(torch.cat(scores))


class IncrementalReader:
    """A decoder of one row that keeps track of how far it has read."""

    def __init__(self, decoder: Decoder) -> None:
        self.decoder, self.length = decoder, 0

    def read(self, ids: Tensor) -> Tensor:
        """ids [1,T] -> logits [t,V] after each unread token; the first time after the last one only"""
        done, self.length = self.length, ids.size(1)
        return self.decoder.extend(ids[:, done:])[0] if done else self.decoder.start(ids)

    def crop(self, length: int) -> None:
        """Forget all tokens after `length`."""
        if self.length > length:
            self.decoder.rewind(self.length - length)
            self.length = length


def draft_round(draft_ids: Tensor, target_probs: Tensor, draft_probs: Tensor, n_accepted: int) -> Draft:
    """draft_ids [n], target_probs [n+1,V], draft_probs [n,V] -> the record of the round for a trace"""
    token_index = torch.arange(len(draft_ids), device=draft_ids.device)
    return Draft(draft_ids, target_probs[token_index, draft_ids], draft_probs[token_index, draft_ids], n_accepted)


def accept_or_resample(
    p: Tensor, q: Tensor, draft_ids: Tensor, generator: torch.Generator | None
) -> tuple[int, Tensor]:
    """p [n+1,V], q [n,V], draft_ids [n] -> how many are accepted, and the token [1] that comes after them"""
    token_index = torch.arange(len(draft_ids), device=p.device)
    acceptance = p[token_index, draft_ids] / q[token_index, draft_ids]
    draws = torch.rand(len(draft_ids), generator=generator, device=p.device, dtype=p.dtype)
    n_accepted = int((draws < acceptance).long().cumprod(0).sum())
    residual = (p[n_accepted] - q[n_accepted]).clamp(min=0) if n_accepted < len(draft_ids) else p[n_accepted]
    return n_accepted, draw((residual if bool(residual.any()) else p[n_accepted])[None], generator)
