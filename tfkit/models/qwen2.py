"""Qwen2 and Qwen2.5 (Yang et al. 2024, arXiv:2407.10671 and arXiv:2412.15115).

Parent   llama
Differs  queries, keys and values have a bias, the output of attention has none; the later layers may have
         sliding-window attention
Trained  objectives.causal_lm
"""

from __future__ import annotations

from typing import Any

from torch import nn

from ..nn.grouped_query import GroupedQueryAttention
from . import llama
from ._base import configuration
from ._rope import read_rope, write_rope
from .llama import FULL, SLIDING


@configuration
class Config(llama.Config):
    vocab_size: int = 151936
    d_ff: int = 4864
    n_kv_heads: int | None = 2
    max_length: int = 131072
    window: int | None = 4096
    use_window: bool = False
    first_windowed: int = 28  # the first layer with a window, if there are windows
    layer_types: list[Any] | tuple[Any, ...] | None = (
        None  # "full_attention" or "sliding_attention" for each layer, which overrides first_windowed
    )
    bos_token_id: int | None = 151643
    eos_token_id: int | list[int] | None = 151643
    tie_word_embeddings: bool = True
    d_model: int = 896
    n_layers: int = 24
    n_heads: int = 14
    rope_theta: float = 1000000.0


PRESETS: dict[str, dict[str, Any]] = {
    "qwen2.5-0.5b": {},
    "qwen2.5-1.5b": {"d_model": 1536, "n_layers": 28, "n_heads": 12, "d_ff": 8960},
    "qwen2.5-7b": {
        "tie_word_embeddings": False,
        "vocab_size": 152064,
        "d_model": 3584,
        "n_layers": 28,
        "n_heads": 28,
        "n_kv_heads": 4,
        "d_ff": 18944,
    },
}


class Layer(llama.Layer):
    def attention(self, c: Config, index: int) -> nn.Module:
        return GroupedQueryAttention(
            c.d_model, c.n_heads, c.n_kv_heads, d_head=c.d_head, bias=True, dropout=c.attn_dropout
        )


class Qwen2(llama.Llama):
    LAYER = Layer

    def layer_types(self) -> list[str]:
        return layer_types(self.config)


def layer_types(c: Config) -> list[str]:
    """The attention of each layer, from the list in the configuration, or windows from `first_windowed` on."""
    if c.layer_types is not None:
        return list(c.layer_types)
    windowed = c.use_window and c.window is not None
    return [SLIDING if windowed and index >= c.first_windowed else FULL for index in range(c.n_layers)]


MODEL = Qwen2
HF, HF_TIED = llama.HF, llama.HF_TIED
HF_HEADS = {
    "Qwen2Model": None, "Qwen2ForCausalLM": "causal_lm", "Qwen2ForSequenceClassification": "sequence_classification",
    "Qwen2ForTokenClassification": "token_classification", "Qwen2ForQuestionAnswering": "question_answering",
}  # fmt: skip
HF_FIELDS = {
    **{published: local for published, local in llama.HF_FIELDS.items() if local not in ("attn_bias", "ff_bias")},
    "sliding_window": "window", "use_sliding_window": "use_window", "max_window_layers": "first_windowed",
    "layer_types": "layer_types",
}  # fmt: skip
HF_FIXED = {"mlp_bias": False}
HF_UNUSED = llama.HF_UNUSED | {"attention_bias"}
from_hf_fields, to_hf_fields = read_rope, write_rope
HF_DEFAULTS = {
    "tie_word_embeddings": False,
    "d_model": 4096,
    "n_layers": 32,
    "n_heads": 32,
    "n_kv_heads": 32,
    "d_ff": 22016,
    "max_length": 32768,
    "rope_theta": 10000.0,
    "bos_token_id": None,
    "eos_token_id": None,
}  # transformers' defaults, for fields that a file omits
