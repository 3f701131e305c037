"""FlauBERT (Le et al. 2019, arXiv:1912.05372): XLM's encoder, trained on French.

Parent   xlm
Differs  one language. The large model is pre-norm (without a final norm: the last states go to the output matrix as
         they are), and is trained with LayerDrop (Fan et al. 2019), which skips layers at random. Without both, 24
         layers did not converge.
Trained  masked language modelling, on 71 GB of French text
"""

from typing import Any

from torch import Tensor

from ..nn import Attention, LayerDrop
from . import bert, xlm
from ._base import configuration
from .xlm import HF, HF_FIXED, HF_UNUSED

__all__ = ["HF", "HF_FIXED", "HF_UNUSED"]  # the same as XLM's


@configuration
class Config(xlm.Config):
    pre_norm: bool = False
    layerdrop: float = 0.0
    vocab_size: int = 67542
    d_model: int = 768
    n_heads: int = 12


PRESETS: dict[str, dict[str, Any]] = {
    "flaubert_base_uncased": {},
    "flaubert_base_cased": {"vocab_size": 68729},
    "flaubert_large_cased": {
        "vocab_size": 68729,
        "d_model": 1024,
        "n_layers": 24,
        "n_heads": 16,
        "eps": 1e-06,
        "pre_norm": True,
        "layerdrop": 0.2,
    },
}


class PreNormLayer(bert.PostNorm):
    """The same parts, with the norms before the sub-layers."""

    def __init__(self, c: Config) -> None:
        super().__init__(c)
        self.attn = Attention(c.d_model, c.n_heads, dropout=c.attn_dropout)

    def forward(self, x: Tensor, mask: Tensor | None) -> Tensor:
        """x [B,L,E], mask bool [B,1,1,L] or None -> [B,L,E]"""
        x = x + self.drop(self.attn(self.norm1(x), mask=mask))
        return x + self.drop(self.ff(self.norm2(x)))


class FlauBERT(xlm.XLM):
    def make_layers(self, c: Any) -> LayerDrop:
        layer: type[bert.PostNorm] = PreNormLayer if c.pre_norm else bert.Layer
        return LayerDrop([layer(c) for _ in range(c.n_layers)], c.layerdrop)


MODEL = FlauBERT

HF_HEADS = xlm.classes("Flaubert")
HF_FIELDS = {**xlm.HF_FIELDS, "pre_norm": "pre_norm", "layerdrop": "layerdrop"}
HF_DEFAULTS = {
    "vocab_size": 30145,
    "d_model": 2048,
    "n_heads": 16,
}  # transformers' defaults, for fields that a file omits
