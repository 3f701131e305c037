"""Contrastive search: likely tokens that differ from the text so far (Su et al. 2022, "A Contrastive Framework for
Neural Text Generation", arXiv:2202.06417)."""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from tfkit.decode.search import GenerationRequest, SequenceBuffer


@dataclass(frozen=True)
class Contrastive:
    """Takes, of the `size` likeliest tokens, the one with the highest (1 - alpha) · probability - alpha · similarity,
    where similarity is the largest cosine between the candidate's hidden state and the earlier ones. Raises TypeError
    for a model that returns no states."""

    size: int = 4
    alpha: float = 0.6
    name = "contrastive"
    width = 1

    def __post_init__(self) -> None:
        if self.size < 1 or not 0 <= self.alpha <= 1:
            raise ValueError(f"{self}: size must be at least 1, and alpha from 0 to 1")

    def score(self, total: float, generated: int) -> float:
        """The summed log-probability; a trace shows the similarity beside it."""
        return total

    def run(self, request: GenerationRequest) -> Tensor:
        """-> ids [B,T]: the best of `size` candidates at each step; the model reads each of them to get its hidden
        state"""
        buffer, decoder = SequenceBuffer(request), request.decoder
        if request.max_new_tokens == 0:
            return buffer.ids
        batch = torch.arange(len(request.prompt), device=request.prompt.device)
        logits, index, prefix_length = decoder.start(request.prompt), batch, 0
        before = StateHistory(decoder.hidden, request.prompt_mask)
        while True:
            scores = request.process_logits(buffer.current_ids, logits)
            size = min(self.size, scores.size(-1))
            probs, tokens = scores.softmax(-1).topk(size)  # [B,size]
            logits = decoder.advance(index.repeat_interleave(size), tokens.flatten(), prefix_length)
            states = before.last(decoder.hidden).unflatten(0, tokens.shape)  # [B,size,E]
            likeness = before.max_cosine(states)
            value = (1 - self.alpha) * probs - self.alpha * likeness
            order = value.argsort(1, descending=True)
            extras = {"likeness": likeness.gather(1, order), "value": value.gather(1, order)}
            buffer.append(scores, tokens.gather(1, order)[:, 0], tokens.gather(1, order), extras=extras)
            if buffer.done:
                return buffer.current_ids
            index, prefix_length = batch * size + order[:, 0], buffer.length - 1
            before.add(states[batch, order[:, 0]])
            logits = logits.index_select(0, index)


class StateHistory:
    """The hidden states so far, [B,t,E], all normalised to length one; non_padding bool [B,t]: not padding."""

    def __init__(self, hidden: Tensor | None, non_padding: Tensor | None) -> None:
        if hidden is None:
            raise TypeError(
                "contrastive search compares hidden states, which this model does not return: use one of tfkit's models"
            )
        self.states = F.normalize(hidden, dim=-1)
        self.non_padding = (
            torch.ones(hidden.shape[:2], dtype=torch.bool, device=hidden.device) if non_padding is None else non_padding
        )

    def last(self, hidden: Tensor | None) -> Tensor:
        """[N,t,E] -> [N,E]"""
        assert hidden is not None
        return F.normalize(hidden[:, -1], dim=-1)

    def max_cosine(self, states: Tensor) -> Tensor:
        """states [B,k,E] -> their largest cosine with the states so far [B,k]"""
        return (states @ self.states.mT).masked_fill(~self.non_padding[:, None], -1.0).amax(-1)

    def add(self, state: Tensor) -> None:
        """Appends state [B,E], normalised."""
        self.states = torch.cat([self.states, state[:, None]], 1)
        self.non_padding = F.pad(self.non_padding, (0, 1), value=True)
