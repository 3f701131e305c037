"""Decoders for a memory, made of models that know none: cross-attention is added, and no position looks ahead.

As the decoder half of `transformer` is: decode(ids, memory, mask, memory_mask, cache) -> states, and score(states) ->
logits. The rest, embeddings and head, is the model's own; so are its tensors' names, and CROSS says what is added.
"""

from __future__ import annotations

from dataclasses import replace
from types import ModuleType
from typing import Any

from torch import nn

from ..namemap import Fused, NameMap
from ..nn import Attention
from . import _heads as heads
from . import bart, bert, gpt2
from ._base import look_up, reach


class BERTDecoder(bert.BERT):
    top: Any
    CROSS: dict[str, str | Fused] = {}  # BERT's own map has it
    TRANSPOSED: tuple[str, ...] = ()
    CONSTANT: tuple[str, ...] = ()

    def __init__(self, config):
        super().__init__(replace(config, is_decoder=True, add_cross_attention=True), "masked_lm")

    @classmethod
    def fits(cls, model):
        """Whether an architecture differs from BERT in nothing that is replaced here."""
        return model.LAYERS is bert.Layers and "causal_lm" in model.TOPS and model.encode is bert.BERT.encode

    def decode(self, ids, memory, mask, memory_mask, cache):
        """ids [B,T], memory [B,S,E], masks bool [B,K] and [B,S] or None -> [B,T,E]"""
        reach(self.config, "decoder_input_ids", ids, 0 if cache is None else cache.past)
        return self.encode(ids, mask, None, None, memory, memory_mask, cache)

    def score(self, x):
        return self.top.scores(heads.Seen(x, None, self.words(self.embed.tokens), None, 1))


class Block(gpt2.Block):
    def __init__(self, c):
        super().__init__(c)
        self.cross_attn = Attention(c.d_model, c.n_heads, dropout=c.attn_dropout)
        self.cross_norm = nn.LayerNorm(c.d_model, c.eps)

    def forward(self, x, mask, cache, memory=None, memory_mask=None):
        x = x + self.drop(self.attn(self.norm1(x), mask=mask, cache=cache))
        x = x + self.drop(self.cross_attn(self.cross_norm(x), memory, mask=memory_mask, cache=cache))
        return x + self.drop(self.ff(self.norm2(x)))


class GPT2Decoder(gpt2.GPT2):
    BLOCK = Block
    CROSS: dict[str, str | Fused] = {
        "h.{}.crossattention.q_attn": "layers.{}.cross_attn.q_proj",
        "h.{}.crossattention.c_attn": Fused(("layers.{}.cross_attn.k_proj", "layers.{}.cross_attn.v_proj")),
        "h.{}.crossattention.c_proj": "layers.{}.cross_attn.o_proj",
        "h.{}.ln_cross_attn": "layers.{}.cross_norm",
    }
    TRANSPOSED = tuple(CROSS)[:3]
    CONSTANT = (r"h\.\d+\.crossattention\.(masked_)?bias",)

    def __init__(self, config):
        super().__init__(config, "causal_lm")

    @classmethod
    def fits(cls, model):
        """Whether an architecture differs from GPT-2 in nothing that is replaced here."""
        return model.BLOCK is gpt2.Block and model.hidden is gpt2.GPT2.hidden

    def decode(self, ids, memory, mask, memory_mask, cache):
        """As of BERT"""
        mask, memory_mask = (m if m is None else m[:, None, None] for m in (mask, memory_mask))
        positions = self.positions(ids, None, 0 if cache is None else cache.past)
        x = look_up(self.embed, ids, "decoder_input_ids") + look_up(self.position, positions, "position_ids")
        x = self.drop(x)
        for layer in self.layers:
            x = layer(x, mask, cache, memory, memory_mask)
        return self.norm(x)


class BARTDecoder(bart.BART):
    """One half of it is what is wanted, as it is."""

    CROSS: dict[str, str | Fused] = {}
    TRANSPOSED = CONSTANT = ()

    def __init__(self, config):
        super().__init__(config, "causal_lm")

    @classmethod
    def fits(cls, model):
        """Whether its decoder can already do without an encoder."""
        return "causal_lm" in model.HEADS


PARENTS: dict[Any, Any] = {bert.BERT: BERTDecoder, gpt2.GPT2: GPT2Decoder, bart.BART: BARTDecoder}


def decoder(module: ModuleType) -> Any:
    """The class of an architecture's decoder for a memory. Raises ValueError where none can be made of it."""
    for parent, made in PARENTS.items():
        if issubclass(module.MODEL, parent) and made.fits(module.MODEL):
            return type(f"{module.MODEL.__name__}Decoder", (made, module.MODEL), {})
    raise ValueError(
        f"{module.MODEL.__name__} cannot be a decoder: give BERT, GPT-2, BART, or a child with their layers"
    )


def decoder_names(module: ModuleType) -> NameMap:
    """The architecture's own map, and what cross-attention adds."""
    own, made = module.HF, decoder(module)
    if not made.CROSS:
        return own
    return NameMap(
        {**own.table, **made.CROSS}, prefix=own.prefix, heads=own.heads, tied=own.tied,
        transposed=[*own.transposed, *made.TRANSPOSED], constant=[*own.constant, *made.CONSTANT],
    )  # fmt: skip
