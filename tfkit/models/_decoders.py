"""Decoders for encoder-decoders, made of models that also work alone: with cross-attention, and causal.

The interface is that of the decoder of `transformer`: decode(ids, memory, mask, memory_mask, cache) -> states, and
score(states) -> logits. Embeddings, head and tensor names are the model's own.
"""

from __future__ import annotations

from dataclasses import replace
from types import ModuleType
from typing import Any

from torch import Tensor

from ..nn.cache import Cache
from . import _base, bart, bert, gpt2
from ._checks import check_max_length, embed_ids


class BERTDecoder(bert.BERT):
    task_head: Any

    def __init__(self, config: Any) -> None:
        super().__init__(replace(config, is_decoder=True, add_cross_attention=True), "causal_lm")

    @classmethod
    def fits(cls, model: Any) -> bool:
        """Whether an architecture has the same forward pass as BERT."""
        return model.LAYERS is bert.Layers and "causal_lm" in model.HEAD_CLASSES and model.encode is bert.BERT.encode

    def decode(
        self, ids: Tensor, memory: Tensor | None, mask: Tensor | None, memory_mask: Tensor | None, cache: Any
    ) -> Tensor:
        """ids [B,T], memory [B,S,E], masks bool [B,K] and [B,S] or None -> [B,T,E]"""
        check_max_length(self.config, "decoder_input_ids", ids, 0 if cache is None else cache.past)
        return self.encode(ids, mask, None, None, memory, memory_mask, cache)

    def score(self, x: Tensor) -> Tensor:
        return self.task_head.scores(_base.HeadInputs(x, None, self.output_matrix(self.embed.tokens), None, 1))


class GPT2Decoder(gpt2.GPT2):
    def __init__(self, config: Any) -> None:
        super().__init__(replace(config, add_cross_attention=True), "causal_lm")

    @classmethod
    def fits(cls, model: Any) -> bool:
        """Whether an architecture has the same forward pass as GPT-2."""
        return model.BLOCK is gpt2.Block and model.hidden is gpt2.GPT2.hidden

    def decode(
        self, ids: Tensor, memory: Tensor, mask: Tensor | None, memory_mask: Tensor | None, cache: Cache | None
    ) -> Tensor:
        """The same arguments as for BERT's decoder"""
        mask, memory_mask = (m if m is None else m[:, None, None] for m in (mask, memory_mask))
        past = 0 if cache is None else cache.past
        return self.hidden(
            embed_ids(self.embed, ids, "decoder_input_ids"),
            self.positions(ids, None, past),
            mask,
            cache,
            memory,
            memory_mask,
        )


class BARTDecoder(bart.BART):
    """BART's own decoder half, unchanged."""

    def __init__(self, config: Any) -> None:
        super().__init__(config, "causal_lm")

    @classmethod
    def fits(cls, model: Any) -> bool:
        """Whether the architecture's decoder works without its encoder."""
        return "causal_lm" in model.HEADS


PARENTS: dict[Any, Any] = {bert.BERT: BERTDecoder, gpt2.GPT2: GPT2Decoder, bart.BART: BARTDecoder}


def decoder(module: ModuleType) -> type[Any]:
    """The class of an architecture's decoder for encoder-decoders. Raises ValueError if it has none."""
    for parent, made in PARENTS.items():
        if issubclass(module.MODEL, parent) and made.fits(module.MODEL):
            return type(f"{module.MODEL.__name__}Decoder", (made, module.MODEL), {})
    raise ValueError(
        f"{module.MODEL.__name__} cannot be a decoder: give BERT, GPT-2, BART, or a child with their layers"
    )
