"""One interface to whatever gives the next token's logits: a bare step function, a hand-built encoder-decoder, or (in
`cached`) tfkit's models."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import torch
import torch.nn.functional as F
from torch import Tensor

from tfkit.decode.cached import CausalDecoder, Seq2SeqDecoder
from tfkit.decode.compiled import Backend


class Decoder(Protocol):
    """hidden [N,t,E]: the states behind the last call's logits, or None where they cannot be seen."""

    hidden: Tensor | None

    def start(self, ids: Tensor) -> Tensor:
        """ids [B,t], the prompt -> logits [B,V] of what follows."""

    def advance(self, index: Tensor | None, token: Tensor, since: int = 0) -> Tensor:
        """Go on from rows `index` [N] of the last call (None: all, as they are) with `token` [N] -> logits [N,V].

        Rows of one sentence stay together, in the order of the sentences. since: where as many rows stay as there
        were, the first column in which one differs from the row that had its place."""

    def extend(self, tokens: Tensor) -> Tensor:
        """Go on with several tokens at once, [N,t] -> logits [N,t,V] after each of them."""

    def rewind(self, count: int) -> None:
        """Forget the last `count` tokens."""


class StepDecoder:
    """`step(prefix [N,t]) -> logits [N,V]`, which sees the whole prefix each time."""

    hidden: Tensor | None = None

    def __init__(self, step: Callable[[Tensor], Tensor]) -> None:
        self.step = step
        self.ids = torch.empty(0, 0, dtype=torch.int64)

    def start(self, ids: Tensor) -> Tensor:
        """ids [B,t] -> logits [B,V]"""
        self.ids = ids
        return self.step(ids)

    def advance(self, index: Tensor | None, token: Tensor, since: int = 0) -> Tensor:
        """token [N] -> logits [N,V]; `since` saves nothing here: the whole prefix is read again"""
        before = self.ids if index is None else self.ids[index]
        self.ids = torch.cat([before, token.unsqueeze(1)], dim=1)
        return self.step(self.ids)

    def extend(self, tokens: Tensor) -> Tensor:
        """tokens [N,t] -> logits [N,t,V], by t calls of the function"""
        return torch.stack([self.advance(None, token) for token in tokens.unbind(1)], dim=1)

    def rewind(self, count: int) -> None:
        """Costs nothing: only the prefix is kept."""
        self.ids = self.ids[:, : self.ids.size(1) - count]


class PlainDecoder(StepDecoder):
    """A model with `encode(src) -> memory [B,S,E]` and `decode(tgt_in, memory, src) -> logits`, without a cache."""

    def __init__(self, model: Any, src: Tensor) -> None:
        super().__init__(self.last)
        self.model, self.src, self.memory = model, src, model.encode(src)

    def last(self, prefix: Tensor) -> Tensor:
        """prefix [N,T] -> logits [N,V] of what follows"""
        return self.model.decode(prefix, self.memory, self.src)[:, -1]

    def advance(self, index: Tensor | None, token: Tensor, since: int = 0) -> Tensor:
        """As the parent's; the source and its memory are copied for as many rows as there are now."""
        if index is not None and len(index) != len(self.src):  # rows of one sentence share its memory: their number
            self.src, self.memory = self.src[index], self.memory[index]  # alone matters
        return super().advance(index, token)


class TextDecoder(StepDecoder):
    """A model of ours that says what follows a whole text, `following(ids, mask) -> logits`, and keeps nothing of it.

    mask bool [B,t]: of prompts that are padded on the left, or None."""

    def __init__(self, model: Any, mask: Tensor | None) -> None:
        super().__init__(self.last)
        self.model, self.mask = model, mask

    def last(self, prefix: Tensor) -> Tensor:
        """prefix [N,T] -> logits [N,V] of what follows"""
        return self.model.following(prefix, self.mask)

    def advance(self, index: Tensor | None, token: Tensor, since: int = 0) -> Tensor:
        """As the parent's; the mask goes with the rows, and the new token is real."""
        if self.mask is not None:
            self.mask = F.pad(self.mask if index is None else self.mask[index], (0, 1), value=True)
        return super().advance(index, token)

    def rewind(self, count: int) -> None:
        """The mask is cut as the prefix is."""
        super().rewind(count)
        self.mask = None if self.mask is None else self.mask[:, : self.ids.size(1)]


def is_ours(model: Any) -> bool:
    """A model of tfkit's, with a configuration and a head; otherwise a hand-built one, or a step function."""
    return hasattr(model, "config") and hasattr(model, "head")


def is_causal(model: Any) -> bool:
    """A decoder alone: its source is the prompt."""
    return is_ours(model) and (model.head == "causal_lm" or tells(model) or not hasattr(model, "encode"))


def tells(model: Any) -> bool:
    """Whether it says what follows a whole text, by itself."""
    return hasattr(model, "following") and model.head == "masked_lm"


def need_words(model: Any) -> None:
    """Raises TypeError for a model of ours that predicts no tokens."""
    if is_ours(model) and model.head not in ("causal_lm", "seq2seq_lm", "rag_token") and not tells(model):
        raise TypeError(f"{type(model).__name__} with head={model.head!r} predicts no next token: give it a LM head")


def decoder_for(
    model: Any,
    input_ids: Tensor | None,
    mask: Tensor | None = None,
    room: int = 0,
    static: bool = False,
    backend: Backend | None = None,
) -> Decoder:
    """The way to drive `model`; input_ids and mask: of the source; of a decoder alone, mask: of the prompts; room,
    static, backend: as of `ModelDecoder`.

    Raises TypeError for what is neither a model nor a function, or lacks its input or its head; ValueError where its
    steps cannot be compiled and a backend is given.
    """
    need_words(model)
    if backend is not None and not is_ours(model):
        raise ValueError("compile: only tfkit's models have the cache of fixed size that a compiled step needs")
    if tells(model) and not static and backend is None:
        return TextDecoder(model, mask)
    if is_causal(model):
        return CausalDecoder(model, mask, room, static, backend)
    if hasattr(model, "encode"):
        if input_ids is None:
            raise TypeError(f"{type(model).__name__} reads a source: give its ids [B,S]")
        ours = is_ours(model)
        if ours:
            return Seq2SeqDecoder(model, input_ids, mask, room, static, backend)
        return PlainDecoder(model, input_ids)
    if callable(model) and not isinstance(model, torch.nn.Module):
        return StepDecoder(model)
    raise TypeError(
        f"cannot decode with {type(model).__name__}: give a model with encode() and decode(), or a function "
        "step(prefix_ids[N,t]) -> logits[N,V]"
    )
