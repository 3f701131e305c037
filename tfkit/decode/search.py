"""The request that strategies read, the steps that they report, and the loop of strategies with one row per sentence.

`SingleSequence.stream` is all of greedy decoding and sampling: the prompt goes through the model once, then each chosen
token, until every row has ended. Beams have a loop of their own, in `groups`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import torch
from torch import Tensor

from tfkit.decode.compiled import Backend
from tfkit.decode.decoders import Decoder, decoder_for, is_causal
from tfkit.decode.guidance import Guidance, GuidedDecoder
from tfkit.decode.logits_processors import BoundLogitsProcessors

if TYPE_CHECKING:
    from tfkit.decode.stop_strings import StopStrings


@dataclass(frozen=True, eq=False)
class Draft:
    """One round of speculative decoding, of one or more steps: n draft tokens, of which the first `n_accepted` were
    accepted.
    """

    tokens: Tensor  # [n]
    target_probs: Tensor  # their probabilities under the model
    draft_probs: Tensor  # their probabilities under the draft model
    n_accepted: int


@dataclass(frozen=True, eq=False)
class Step:
    """One new token of B sentences: K hypotheses before it, and C candidates for the hypotheses after it."""

    scores: Tensor  # logits after the logits processors; log-probabilities if `normal`
    totals: Tensor  # -inf for an empty slot
    parent: Tensor  # [B,C]: which hypothesis the candidate continues
    token: Tensor  # [B,C]
    total: Tensor  # -inf: not a valid continuation
    live: Tensor  # the candidates that go on after the step
    ended: Tensor  # bool [B,C]: set aside as finished
    normal: bool = False
    extras: Mapping[str, Tensor] = field(
        default_factory=dict
    )  # [B,C] each: further figures behind the choice; NaN: none
    draft: Draft | None = None

    @cached_property
    def log_probs(self) -> Tensor:
        """[B,K,V], in float64; not normalised again after the logits processors of a beam"""
        return self.scores.double() if self.normal else self.scores.double().log_softmax(-1)


@dataclass(eq=False, kw_only=True)
class GenerationRequest:
    """One call of `generate`, checked and complete: all that a strategy needs to know. It is never changed.

    It is made by `generate.request_for`. For a decoder-only model, `attention_mask` is the mask of the prompts, which
    may be padded on the left; for an encoder-decoder it is that of the source. None: no padding.
    """

    model: Any
    prompt: Tensor  # the first input of the decoder
    max_new_tokens: int
    source: Tensor | None = None  # the encoder's input: ids int64 [B,S], or features [B,M,F]
    attention_mask: Tensor | None = None  # bool [B,S] of a source of ids, or [B,T] of the prompt
    cross_attention_inputs: Mapping[str, Tensor] = field(
        default_factory=dict
    )  # of a decoder-only model, as arguments of its forward
    eos_token_ids: tuple[int, ...] = ()  # any of them ends a row
    stop_strings: StopStrings | None = None  # so does a token that completes one of these
    pad_token_id: int = 0
    processors: BoundLogitsProcessors | None = None
    guidance: Guidance | None = None
    num_return_sequences: int = 1
    generator: torch.Generator | None = None
    static_cache: bool = False
    compile_backend: Backend | None = None
    on_step: Callable[[Step], Any] | None = None  # called with each step, for a trace
    wrap_decoder: Callable[[Decoder], Decoder] | None = None  # for tracing the decoder's cache

    @cached_property
    def decoder(self) -> Decoder:
        """The decoder for all sentences, created at first use."""
        decoder = self.new_decoder(self.model)
        decoder = decoder if self.wrap_decoder is None else self.wrap_decoder(decoder)
        if self.guidance is None:
            return decoder
        capacity = self.guidance.length() + self.max_new_tokens
        how = (capacity, self.static_cache, self.compile_backend)
        return GuidedDecoder(self.guidance, decoder, decoder_for(self.model, None, self.guidance.mask, *how))

    def new_decoder(self, model: Any) -> Decoder:
        """A fresh decoder, of the request's model or of another one, such as a draft model; without guidance."""
        cross_attention_inputs = self.cross_attention_inputs if model is self.model else {}
        return decoder_for(
            model,
            self.source,
            self.attention_mask,
            self.capacity,
            self.static_cache,
            self.compile_backend,
            cross_attention_inputs,
        )

    @property
    def capacity(self) -> int:
        """The maximum number of positions of a row: its prompt and the new tokens."""
        return self.prompt.size(1) + self.max_new_tokens

    @cached_property
    def prompt_mask(self) -> Tensor | None:
        """bool [B,T]: which tokens of the prompts are not padding; None: all of them"""
        return self.attention_mask if is_causal(self.model) else None

    def for_row(self, row: int) -> GenerationRequest:
        """The same request for a single one of its sentences."""
        one = slice(row, row + 1)
        source = None if self.source is None else self.source[one]
        mask = None if self.attention_mask is None else self.attention_mask[one]
        cross_attention_inputs = {name: tensor[one] for name, tensor in self.cross_attention_inputs.items()}
        return replace(
            self,
            prompt=self.prompt[one],
            source=source,
            attention_mask=mask,
            cross_attention_inputs=cross_attention_inputs,
            processors=None if self.processors is None else self.processors.for_row(row),
            guidance=None if self.guidance is None else self.guidance.for_row(row),
        )

    @property
    def can_end(self) -> bool:
        """Whether anything but the number of new tokens ends a row."""
        return bool(self.eos_token_ids) or self.stop_strings is not None

    def is_last(self, ids: Tensor) -> Tensor:
        """ids [...,T] -> bool [...]: whether the last id of a row ends it"""
        ends = self.is_end(ids[..., -1])
        return ends if self.stop_strings is None else ends | self.stop_strings(ids)

    def is_end(self, token: Tensor) -> Tensor:
        """token [...] -> bool [...]: which of them are end tokens"""
        return token == self.eos_token_ids[0] if len(self.eos_token_ids) == 1 else torch.isin(token, self._eos)

    @cached_property
    def _eos(self) -> Tensor:
        return torch.tensor(self.eos_token_ids, dtype=torch.int64, device=self.prompt.device)

    def process_logits(self, ids: Tensor, logits: Tensor) -> Tensor:
        """ids [N,T], logits [N,V] -> scores [N,V], at least float32 and on the device of the ids"""
        scores = at_least_float32(logits).to(ids.device)
        processors = self.processors_after(ids.size(1))
        return scores if processors is None else processors(self.mark_prompt_padding(ids), scores)

    def processors_after(self, length: int) -> BoundLogitsProcessors | None:
        """The logits processors, if any of them applies after `length` tokens; otherwise None."""
        return None if self.processors is None or self.processors.is_noop(length) else self.processors

    def mark_prompt_padding(self, ids: Tensor) -> Tensor:
        """ids [N,T] as logits processors read them: padding of a prompt is -1 and comes first, before any prefix"""
        if self.prompt_mask is None:
            return ids
        length = self.prompt.size(1)
        mask = self.prompt_mask.repeat_interleave(len(ids) // len(self.prompt_mask), 0)
        order = mask.byte().argsort(dim=1, stable=True)
        return torch.cat([ids[:, :length].masked_fill(~mask, -1).gather(1, order), ids[:, length:]], 1)

    def buffer(self, rows: int) -> Tensor:
        """Ids [B,rows,capacity]: the prompts, then padding."""
        batch, length = self.prompt.shape
        ids = self.prompt.new_full((batch, rows, self.capacity), self.pad_token_id)
        ids[:, :, :length] = self.prompt.unsqueeze(1)
        return ids


class Strategy(Protocol):
    """How to find a continuation; your own strategies have the same methods."""

    @property
    def name(self) -> str:
        """Its name in a trace."""

    @property
    def width(self) -> int:
        """How many hypotheses of a sentence are kept at once."""

    def run(self, request: GenerationRequest) -> Tensor:
        """-> ids [B·num_return_sequences,T]: prompt, new tokens, padding"""

    def score(self, total: float, generated: int) -> float:
        """How good a hypothesis is, from its summed log-probability; a trace shows it."""


def at_least_float32(logits: Tensor) -> Tensor:
    """Casts half precision to float32: summed log-probabilities would lose too many digits."""
    return logits if logits.dtype in (torch.float32, torch.float64) else logits.float()


class SingleSequence(ABC):
    """One row per sentence: `pick(scores [B,V], generator) -> token [B]` decides, and no token is revised. samples:
    whether tokens are drawn at random, so that num_return_sequences may ask for several results for a sentence."""

    width = 1
    samples = False

    @abstractmethod
    def pick(self, scores: Tensor, generator: torch.Generator | None) -> Tensor:
        """scores [B,V], after the logits processors -> token [B]; all randomness comes from the generator"""

    def score(self, total: float, generated: int) -> float:
        """The summed log-probability."""
        return total

    def run(self, request: GenerationRequest) -> Tensor:
        """-> ids [B,T]: prompt, the chosen tokens, padding"""
        return torch.cat([request.prompt, *self.stream(request)], 1)

    def stream(self, request: GenerationRequest) -> Iterator[Tensor]:
        """The new tokens one after the other, [B,1] each time: padding where a row has ended"""
        if request.max_new_tokens == 0:
            return
        buffer = SequenceBuffer(request)
        logits = request.decoder.start(request.prompt)  # [B,V]
        while True:
            scores = request.process_logits(buffer.current_ids, logits)
            token = buffer.append(scores, self.pick(scores, request.generator))  # [B]
            yield token.unsqueeze(1)
            if buffer.done:
                return
            logits = request.decoder.advance(None, token)


class SequenceBuffer:
    """The ids of strategies with one row per sentence; a row that has ended is filled with padding."""

    def __init__(self, request: GenerationRequest) -> None:
        self.request, self.length = request, request.prompt.size(1)
        self.ids = request.buffer(1).squeeze(1)  # [B,capacity]
        self.finished = torch.zeros(len(self.ids), dtype=torch.bool, device=self.ids.device)
        self.totals = torch.zeros(len(self.ids), 1, dtype=torch.float64, device=self.ids.device)  # for a trace

    @property
    def current_ids(self) -> Tensor:
        """[B,T]: the prompts and the tokens appended so far"""
        return self.ids[:, : self.length]

    @property
    def done(self) -> bool:
        """Whether every row has ended, or there is no room left."""
        return self.length == self.ids.size(1) or (self.request.can_end and bool(self.finished.all()))

    def append(self, scores: Tensor, token: Tensor, others: Tensor | None = None, **details: Any) -> Tensor:
        """scores [B,V], the token [B] chosen by them; others [B,C]: the candidates, with the chosen token first;
        details: fields of `Step`, for a trace -> token [B], padding for rows that have ended"""
        chosen = token.unsqueeze(1) if others is None else others
        if self.request.can_end:
            token = token.masked_fill(self.finished, self.request.pad_token_id)
        self.ids[:, self.length] = token
        self.length += 1
        if self.request.can_end:
            self.finished = self.finished | self.request.is_last(self.current_ids)
        if self.request.on_step:
            self.request.on_step(self.step(scores, chosen, **details))
        return token

    def step(self, scores: Tensor, tokens: Tensor, **details: Any) -> Step:
        """The Step for a trace, of the token just appended: of tokens [B,C] the first is taken"""
        before = self.totals
        total = before + scores.double().log_softmax(-1).gather(1, tokens)
        first = torch.zeros_like(tokens[:, :1])
        newly = self.finished & (before[:, 0] > -torch.inf)  # [B]
        ended = newly.unsqueeze(1) & (torch.arange(tokens.size(1), device=tokens.device) == 0)
        self.totals = total.masked_fill(ended, -torch.inf)[:, :1]
        return Step(scores.unsqueeze(1), before, torch.zeros_like(tokens), tokens, total, first, ended, **details)
