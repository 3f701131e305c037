"""mT5 (Xue et al. 2020, arXiv:2010.11934): T5 in 101 languages.

Parent   t5
Differs  from the original T5: a gated GELU in the feed-forward network and an untied output matrix, without scaling (as
         in T5 version 1.1); from both: a vocabulary eight times as large, which is most of the small models
Trained  objectives.span_corruption alone, without supervised tasks; low-resource languages are sampled more often than
         they occur
"""

from collections.abc import Collection
from typing import Any

from torch import Tensor

from . import t5
from ._base import configuration, replace_fields
from .t5 import T5


@configuration
class Config(t5.Config):
    vocab_size: int = 250112
    d_ff: int = 1024
    n_layers: int = 8
    n_heads: int = 6
    activation: str = "gated-gelu"
    tie_word_embeddings: bool = False  # decided by whether a file has an output matrix: see `config_from_tensors`
    scale_decoder_outputs: bool | None = False


PRESETS: dict[str, dict[str, Any]] = {
    "mt5-small": {},
    "mt5-base": {"d_model": 768, "d_ff": 2048, "n_layers": 12, "n_heads": 12},
    "mt5-large": {"d_model": 1024, "d_ff": 2816, "n_layers": 24, "n_heads": 16},
    "mt5-xl": {"d_model": 2048, "d_ff": 5120, "n_layers": 24, "n_heads": 32},
    "mt5-xxl": {"d_model": 4096, "d_ff": 10240, "n_layers": 24, "n_heads": 64},
}


class MT5(T5):
    """T5 with other sizes and defaults: see the Config."""


MODEL = MT5


class MT5NameMap(t5.T5NameMap):
    """A stored output matrix is the model's own, even if it equals the embeddings."""

    def load(self, published: dict[str, Tensor]) -> dict[str, Tensor]:
        own = {name: tensor for name, tensor in published.items() if name == "lm_head.weight"}
        return super().load({name: tensor for name, tensor in published.items() if name not in own}) | own


def config_from_tensors(config: Config, names: Collection[str]) -> Config:
    """The configuration of a file with tensors of these names. What the file says of tying is ignored: transformers 5
    calls every mT5 tied, and then omits the output matrix if it equals the embeddings."""
    return replace_fields(config, tie_word_embeddings="lm_head.weight" not in names)


HF = MT5NameMap(t5.BODY, prefix=t5.HF.prefix, heads=t5.HEADED, tied=t5.TIED, constant=t5.CONSTANT)
HF_HEADS = {name.replace("T5", "MT5"): head for name, head in t5.HF_HEADS.items() if "WithLM" not in name}
HF_FIELDS = {
    published: local
    for published, local in t5.HF_FIELDS.items()
    if "tie_word" not in published and "scale" not in published
}
HF_FIXED = t5.HF_FIXED
HF_UNUSED = {*t5.HF_UNUSED, "tie_word_embeddings", "tokenizer_class"}
