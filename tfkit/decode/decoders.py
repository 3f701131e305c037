"""One interface to whatever gives the next token's logits: tfkit's models with their caches, a hand-built
encoder-decoder, or a bare step function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import torch
from torch import Tensor


class Decoder(Protocol):
    def start(self, ids: Tensor) -> Tensor:
        """ids [B,t], the prompt -> logits [B,V] of what follows."""

    def advance(self, index: Tensor, token: Tensor) -> Tensor:
        """Go on from rows `index` [N] of the last call with `token` [N] -> logits [N,V]."""


class StepDecoder:
    """`step(prefix [N,t]) -> logits [N,V]`, which sees the whole prefix each time."""

    def __init__(self, step: Callable[[Tensor], Tensor]) -> None:
        self.step = step
        self.ids = torch.empty(0, 0, dtype=torch.int64)

    def start(self, ids: Tensor) -> Tensor:
        self.ids = ids
        return self.step(ids)

    def advance(self, index: Tensor, token: Tensor) -> Tensor:
        self.ids = torch.cat([self.ids[index], token.unsqueeze(1)], dim=1)
        return self.step(self.ids)


class PlainDecoder(StepDecoder):
    """A model with `encode(src) -> memory [B,S,E]` and `decode(tgt_in, memory, src) -> logits`, without a cache."""

    def __init__(self, model: Any, src: Tensor) -> None:
        super().__init__(self.last)
        self.model, self.src, self.memory = model, src, model.encode(src)

    def last(self, prefix: Tensor) -> Tensor:
        return self.model.decode(prefix, self.memory, self.src)[:, -1]

    def advance(self, index: Tensor, token: Tensor) -> Tensor:
        if len(index) != len(self.src):  # hypotheses of one sentence share its memory: only their number matters
            self.src, self.memory = self.src[index], self.memory[index]
        return super().advance(index, token)


class CachedDecoder:
    """A tfkit encoder-decoder: only the new token goes in, the cache has the rest."""

    def __init__(self, model: Any, input_ids: Tensor, attention_mask: Tensor | None = None) -> None:
        if attention_mask is None:
            real = input_ids != model.config.pad_token_id
            attention_mask = None if bool(real.all()) else real
        self.model, self.mask = model, attention_mask
        self.encoded = model.encode(input_ids, attention_mask)
        self.rows = len(input_ids)
        self.cache: Any = None

    def start(self, ids: Tensor) -> Tensor:
        out = self.model(
            attention_mask=self.mask,
            decoder_input_ids=ids,
            encoder_outputs=self.encoded,
            cache=self.cache,
            use_cache=True,
        )
        self.cache = out.cache
        return out.logits[:, -1]

    def advance(self, index: Tensor, token: Tensor) -> Tensor:
        if len(index) != self.rows:
            self.rows, self.encoded = len(index), self.encoded.rows(index)
            self.mask = None if self.mask is None else self.mask[index]
            self.cache.reorder(index)
        elif not torch.equal(index, torch.arange(self.rows, device=index.device)):
            self.cache.reorder(index)
        return self.start(token.unsqueeze(1))


def is_ours(model: Any) -> bool:
    """A model of tfkit's, with a cache; otherwise a hand-built one, or a step function."""
    return hasattr(model, "config") and hasattr(model.config, "decoder_start_token_id")


def decoder_for(model: Any, input_ids: Tensor | None, attention_mask: Tensor | None = None) -> Decoder:
    """The way to drive `model`. Raises TypeError for what is neither a model nor a function, or lacks its input."""
    if hasattr(model, "encode"):
        if input_ids is None:
            raise TypeError(f"{type(model).__name__} reads a source: give its ids [B,S]")
        return CachedDecoder(model, input_ids, attention_mask) if is_ours(model) else PlainDecoder(model, input_ids)
    if callable(model) and not isinstance(model, torch.nn.Module):
        return StepDecoder(model)
    raise TypeError(
        f"cannot decode with {type(model).__name__}: give a model with encode() and decode(), or a function "
        "step(prefix_ids[N,t]) -> logits[N,V]"
    )
