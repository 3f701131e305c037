"""Qwen2 and Qwen2.5 (Yang et al. 2024, arXiv:2407.10671 and arXiv:2412.15115).

Parent   llama
Differs  queries, keys and values have a bias, the output of attention has none; the later layers may attend to a window
Trained  objectives.causal_lm
"""

from __future__ import annotations

from torch import nn

from ..nn.grouped_query import GroupedQueryAttention
from . import llama
from ._base import configuration
from ._rope import read_rope, write_rope
from .llama import FULL, SLIDING


@configuration
class Config(llama.Config):
    vocab_size: int = 151936
    d_ff: int = 22016
    n_kv_heads: int | None = 32
    max_length: int = 32768
    window: int | None = 4096
    use_window: bool = False
    first_windowed: int = 28  # the layer from which on there is a window, where there is one
    layer_types: list | tuple | None = None  # "full_attention" or "sliding_attention" for each, in place of that
    bos_token_id: int | None = None
    eos_token_id: int | list[int] | None = None


QWEN2 = {"rope_theta": 1e6, "max_length": 131072, "bos_token_id": 151643, "eos_token_id": 151643}
PRESETS: dict[str, dict] = {
    "qwen2.5-0.5b": {
        **QWEN2, "d_model": 896, "n_layers": 24, "n_heads": 14, "n_kv_heads": 2, "d_ff": 4864,
        "tie_word_embeddings": True,
    },
    "qwen2.5-1.5b": {
        **QWEN2, "d_model": 1536, "n_layers": 28, "n_heads": 12, "n_kv_heads": 2, "d_ff": 8960,
        "tie_word_embeddings": True,
    },
    "qwen2.5-7b": {
        **QWEN2, "vocab_size": 152064, "d_model": 3584, "n_layers": 28, "n_heads": 28, "n_kv_heads": 4, "d_ff": 18944,
    },
}  # fmt: skip


class Layer(llama.Layer):
    def attention(self, c: Config, index: int) -> nn.Module:  # type: ignore[override]
        return GroupedQueryAttention(
            c.d_model, c.n_heads, c.n_kv_heads, d_head=c.d_head, bias=True, dropout=c.attn_dropout
        )


class Qwen2(llama.Llama):
    LAYER = Layer

    def layer_types(self) -> list[str]:
        return layer_types(self.config)


def layer_types(c: Config) -> list[str]:
    """What each layer attends to, as a list in the configuration says, or from `first_windowed` on a window."""
    if c.layer_types is not None:
        return list(c.layer_types)
    windowed = c.use_window and c.window is not None
    return [SLIDING if windowed and index >= c.first_windowed else FULL for index in range(c.n_layers)]


MODEL = Qwen2
HF, HF_TIED = llama.HF, llama.HF_TIED
HF_HEADS = {
    "Qwen2Model": None, "Qwen2ForCausalLM": "causal_lm", "Qwen2ForSequenceClassification": "sequence_classification",
    "Qwen2ForTokenClassification": "token_classification",
}  # fmt: skip
HF_FIELDS = {
    **{theirs: ours for theirs, ours in llama.HF_FIELDS.items() if ours not in ("attn_bias", "ff_bias")},
    "sliding_window": "window", "use_sliding_window": "use_window", "max_window_layers": "first_windowed",
    "layer_types": "layer_types",
}  # fmt: skip
HF_FIXED = {"mlp_bias": False}
HF_UNUSED = llama.HF_UNUSED | {"attention_bias"}
from_hf_fields, to_hf_fields = read_rope, write_rope
