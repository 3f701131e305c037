"""GPT-3 (Brown et al. 2020, arXiv:2005.14165, "Language Models are Few-Shot Learners").

Parent   gpt2
Differs  every second layer has local attention: a token attends to itself and the window - 1 before it (a band, Child
         et al. 2019); twice the context length; the width of a head is independent of the model's (13B: 40 heads of 128
         in a width of 5140)
Trained  objectives.causal_lm, on 300 billion tokens
The weights were not published, nor the width of the band: 256 is the value in its replication, GPT-Neo.
"""

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from ..nn import Attention, flex
from ..nn.cache import Cache
from ..nn.positions import position_range
from . import gpt2
from ._base import configuration
from ._checks import embed_ids


@configuration
class Config(gpt2.Config):
    max_length: int = 2048
    d_head: int | None = None  # default d_model / n_heads
    window: int = 256


# Table 2.1. It gives XL 24 heads of 128, which do not fit into a width of 2048; 16 do, and give 1.3 billion.
PRESETS: dict[str, dict[str, Any]] = {
    "gpt3-small": {},
    "gpt3-medium": {"d_model": 1024, "n_layers": 24, "n_heads": 16},
    "gpt3-large": {"d_model": 1536, "n_layers": 24, "n_heads": 16},
    "gpt3-xl": {"d_model": 2048, "n_layers": 24, "n_heads": 16},
    "gpt3-2.7b": {"d_model": 2560, "n_layers": 32, "n_heads": 32},
    "gpt3-6.7b": {"d_model": 4096, "n_layers": 32, "n_heads": 32},
    "gpt3-13b": {"d_model": 5140, "n_layers": 40, "n_heads": 40, "d_head": 128},
    "gpt3-175b": {"d_model": 12288, "n_layers": 96, "n_heads": 96},
}


def band_mask(mask: Tensor | None, x: Tensor, cache: Cache | None, window: int) -> Tensor | None:
    """mask bool [B,1,1,K] or None, x [B,Q,E] the new positions -> the mask of a layer that sees the last `window`
    keys, or None if there are no more. Later keys are left to causality."""
    past, new = 0 if cache is None else cache.past, x.size(1)
    keys = new if cache is None else cache.width(new)
    if keys <= window:
        return mask
    near = torch.arange(keys, device=x.device) > position_range(past, new, x.device)[:, None] - window  # [Q,K]
    return near if mask is None else F.pad(mask, (0, keys - mask.size(-1))) & near


def full_and_band_masks(model: Any, x: Tensor, mask: Tensor | None, cache: Cache | None) -> tuple[Any, Any]:
    """mask bool [B,1,1,K] or None, x [B,Q,E] the new positions -> the masks of layers with full and with banded
    attention"""
    if flex.is_chosen(model, x.size(1), x.device, cache, model.config.attn_dropout):
        full = flex.visible(None if mask is None else mask[:, 0, 0])
        return full, full & flex.window(model.config.window - 1, 0)
    return mask, band_mask(mask, x, cache, model.config.window)


def banded_layers(
    model: Any, local: list[bool], x: Tensor, positions: Tensor, mask: Tensor | None, cache: Cache | None
) -> Tensor:
    """As GPT-2's `hidden`, where `local` says of each layer whether it is banded -> [B,L,E]"""
    full, band = full_and_band_masks(model, x, mask, cache)
    x = model.drop(x + embed_ids(model.position, positions, "position_ids"))
    for layer, is_local in zip(model.layers, local, strict=True):
        x = layer(x, band if is_local else full, cache)
    return model.norm(x)


class Block(gpt2.Block):
    def attention(self, c: Any) -> Attention:
        return Attention(c.d_model, c.n_heads, d_head=c.d_head, dropout=c.attn_dropout, causal=True)


class GPT3(gpt2.GPT2):
    BLOCK = Block
    FLEX_ATTENTION = True

    def local(self) -> list[bool]:
        """Whether each layer is banded -> one bool per layer"""
        return [index % 2 == 1 for index in range(self.config.n_layers)]

    def hidden(self, x: Tensor, positions: Tensor, mask: Tensor | None, cache: Cache | None) -> Tensor:
        return banded_layers(self, self.local(), x, positions, mask, cache)


MODEL = GPT3
