"""FlauBERT (Le et al. 2019, arXiv:1912.05372): XLM's encoder for French alone.

Parent   xlm
Differs  one language. In the large model the norms come before each sub-layer (and none after the last: its states go
         to the output matrix as they are), and layers are skipped at random while it is trained (Fan et al. 2019): a
         skipped one passes its input on. Without both, 24 layers did not converge.
Trained  masked language modelling, on 71 GB of French text
"""

from ..nn import LayerDrop
from . import bert, xlm
from ._base import configuration
from .xlm import HF, HF_FIXED, HF_UNUSED

__all__ = ["HF", "HF_FIXED", "HF_UNUSED"]  # as XLM's


@configuration
class Config(xlm.Config):
    pre_norm: bool = False
    layerdrop: float = 0.0


BASE = {"d_model": 768, "n_heads": 12}
PRESETS: dict[str, dict] = {
    "flaubert_base_uncased": {"vocab_size": 67542, **BASE},
    "flaubert_base_cased": {"vocab_size": 68729, **BASE},
    "flaubert_large_cased": {
        "vocab_size": 68729, "d_model": 1024, "n_layers": 24, "eps": 1e-6, "pre_norm": True, "layerdrop": 0.2,
    },
}  # fmt: skip


class PreNormLayer(bert.Layer):
    def forward(self, x, mask):  # type: ignore[override]
        x = x + self.drop(self.attn(self.norm1(x), mask=mask))
        return x + self.drop(self.ff(self.norm2(x)))


class FlauBERT(xlm.XLM):
    def LAYERS(self, c):
        layer = PreNormLayer if c.pre_norm else bert.Layer
        return LayerDrop([layer(c) for _ in range(c.n_layers)], c.layerdrop)


MODEL = FlauBERT

HF_HEADS = xlm.classes("Flaubert")
HF_FIELDS = {**xlm.HF_FIELDS, "pre_norm": "pre_norm", "layerdrop": "layerdrop"}
