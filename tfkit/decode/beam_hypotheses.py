"""The state of a beam: unfinished hypotheses, finished ones, and the test of whether a better one can follow."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from tfkit.decode.search import GenerationRequest, Step


class BeamHypotheses:
    """The hypotheses of one group: for each sentence `num_beams` unfinished ones, and the best finished ones.

    The candidates are the best of all continuations. A finished one among the best `num_beams` is kept with its score,
    total / generated ** length_penalty; the best unfinished ones form the new beam. A sentence is done when no better
    hypothesis can be expected, by transformers' rules: with early_stopping True as soon as `num_beams` hypotheses are
    finished; with False, when the best unfinished one's current score is no better than the worst finished one's; with
    "never", when its score at the length limit, at unchanged probability, would be no better.
    """

    def __init__(
        self, request: GenerationRequest, num_beams: int, length_penalty: float, early_stopping: bool | str
    ) -> None:
        self.request, self.num_beams = request, num_beams
        self.length_penalty, self.early_stopping = length_penalty, early_stopping
        batch, device = len(request.prompt), request.prompt.device
        self.candidates = (
            max(2, 1 + len(request.eos_token_ids)) * num_beams
        )  # enough to fill the beam, whichever of them end
        self.totals = torch.zeros(batch, 1, device=device)  # [B,K]
        self.finished_ids = request.buffer(num_beams)  # [B,num_beams,room]
        self.best_finished = torch.full((batch, num_beams), -torch.inf, device=device)  # best first
        self.finished_lengths = torch.full((batch, num_beams), request.prompt.size(1), device=device)
        self.sentence_done = torch.zeros(batch, dtype=torch.bool, device=device)
        self.first_beams = torch.arange(num_beams, device=device).expand(batch, -1)
        self.any_finished = self.done = False
        self.last_step: Step | None = None  # the last step, if a trace is wanted

    def step(self, scores: Tensor, normal: bool, ids: Tensor, generated: int) -> tuple[Tensor, Tensor]:
        """scores [B,K,V], ids [B,K,T] so far, generated: new tokens, with this one -> parent, token [B,num_beams]"""
        parent, token, total = self.best(scores, normal)
        ended = self.ends(ids, parent, token) if self.request.can_end else None
        last = generated == self.request.max_new_tokens
        if last or (ended is not None and bool(ended.any())):
            self.add_finished(ids, parent, token, self.finished_scores(total, None if last else ended, generated))
        else:
            ended = None
        live = self.first_beams if ended is None else self.select_beams(total, ended, last)
        if self.request.on_step:
            final = self.is_final(total, ended)
            self.last_step = Step(scores, self.totals, parent, token, total, live, final, normal)
        self.totals = (total if ended is None else total.masked_fill(ended, -torch.inf)).gather(1, live)
        if self.any_finished:
            self.close(generated)
        return parent.gather(1, live), token.gather(1, live)

    def ends(self, ids: Tensor, parent: Tensor, token: Tensor) -> Tensor:
        """ids [B,K,T], parent, token [B,C] -> bool [B,C]: which of these continuations end a hypothesis"""
        if self.request.stop_strings is None:
            return self.request.is_end(token)
        return self.request.is_last(torch.cat([rows_of(ids, parent), token.unsqueeze(-1)], -1))

    def best(self, scores: Tensor, normal: bool) -> tuple[Tensor, Tensor, Tensor]:
        """scores [B,K,V] -> parent, token, total [B,C] of the best continuations"""
        every = scores if normal else scores.log_softmax(-1)
        every = (every + self.totals.unsqueeze(-1)).flatten(1)  # [B,K·V]
        found = every.topk(min(self.candidates, every.size(1)))
        parent, token = found.indices // scores.size(-1), found.indices % scores.size(-1)
        total, lacking = found.values, self.candidates - token.size(1)
        if lacking > 0:  # the vocabulary is smaller than the number of candidates
            parent, token = F.pad(parent, (0, lacking)), F.pad(token, (0, lacking))
            total = F.pad(total, (0, lacking), value=-torch.inf)
        return parent, token, total

    def select_beams(self, total: Tensor, ended: Tensor, last: bool) -> Tensor:
        """The candidates that form the new beam -> [B,num_beams]; after the last step the best, as all are then
        finished."""
        return self.first_beams if last else total.masked_fill(ended, -torch.inf).topk(self.num_beams).indices

    def is_final(self, total: Tensor, ended: Tensor | None) -> Tensor:
        """Which candidates are finished and count -> bool [B,C]"""
        if ended is None:
            return torch.zeros_like(total, dtype=torch.bool)
        open_ = ~self.sentence_done.unsqueeze(1) & (total > -torch.inf)
        return ended & open_ & (torch.arange(total.size(1), device=total.device) < self.num_beams)

    def finished_scores(self, total: Tensor, ended: Tensor | None, generated: int) -> Tensor:
        """The scores of the best finished candidates -> [B,num_beams]; ended None: all are finished, at the length
        limit"""
        scores = total[:, : self.num_beams] / float(generated**self.length_penalty)
        out = (
            self.sentence_done.unsqueeze(1)
            if ended is None
            else self.sentence_done.unsqueeze(1) | ~ended[:, : self.num_beams]
        )
        return scores.masked_fill(out, -torch.inf)

    def add_finished(self, ids: Tensor, parent: Tensor, token: Tensor, scores: Tensor) -> None:
        """Keep the best of the earlier finished hypotheses and the new ones, with scores [B,num_beams]."""
        end, parent = ids.size(-1), parent[:, : self.num_beams]
        new = torch.full_like(self.finished_ids, self.request.pad_token_id)
        new[..., :end] = rows_of(ids, parent)
        new[..., end] = token[:, : self.num_beams]
        lengths = torch.cat([self.finished_lengths, torch.full_like(parent, end + 1)], 1)
        best = torch.cat([self.best_finished, scores.to(self.best_finished.dtype)], 1).topk(self.num_beams)
        self.best_finished, self.finished_lengths = best.values, lengths.gather(1, best.indices)
        self.finished_ids = rows_of(torch.cat([self.finished_ids, new], 1), best.indices)
        self.any_finished = True

    def close(self, generated: int) -> None:
        """Marks the sentences that are done."""
        worst, best_unfinished = self.best_finished[:, -1], self.totals[:, 0]
        full, exhausted = worst > -torch.inf, best_unfinished == -torch.inf
        at = self.request.max_new_tokens if self.early_stopping == "never" and self.length_penalty > 0 else generated
        better = best_unfinished / at**self.length_penalty > worst if self.early_stopping is not True else ~full
        self.sentence_done = self.sentence_done | (full & ~better) | exhausted
        self.done = bool(self.sentence_done.all())


class TextbookHypotheses(BeamHypotheses):
    """The rules of `beam_search`: a finished hypothesis keeps its place for that step only, so the beam gets
    narrower."""

    def select_beams(self, total: Tensor, ended: Tensor, last: bool) -> Tensor:
        """[B,num_beams]: the first candidates, finished ones included; `step` gives the latter a total of -inf"""
        return self.first_beams

    def close(self, generated: int) -> None:
        """A sentence is done when no place of its beam is left."""
        self.sentence_done = (self.totals == -torch.inf).all(1)
        self.done = bool(self.sentence_done.all())


def rows_of(ids: Tensor, index: Tensor) -> Tensor:
    """ids [B,K,T], index [B,N] -> [B,N,T]"""
    return ids.gather(1, index.unsqueeze(-1).expand(-1, -1, ids.size(-1)))
