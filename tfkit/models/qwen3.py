"""Qwen3 (Yang et al. 2025, arXiv:2505.09388).

Parent   llama
Differs  each head's queries and keys are normalised before the rotation (QK-norm, Henry et al. 2020, arXiv:2010.04245),
         which bounds the scores; heads of 128 whatever the width; the later layers may have sliding-window attention
Trained  objectives.causal_lm
"""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn

from ..nn.grouped_query import GroupedQueryAttention
from ..nn.rms_norm import RMSNorm
from . import llama, qwen2
from ._base import configuration
from ._rope import read_rope, write_rope


@configuration
class Config(qwen2.Config):
    d_head: int | None = 128
    tie_word_embeddings: bool = False
    d_model: int = 4096
    n_layers: int = 36
    n_heads: int = 32
    n_kv_heads: int | None = 8
    d_ff: int = 12288
    max_length: int = 40960
    eos_token_id: int | list[int] | None = 151645


PRESETS: dict[str, dict[str, Any]] = {
    "qwen3-0.6b": {"tie_word_embeddings": True, "d_model": 1024, "n_layers": 28, "n_heads": 16, "d_ff": 3072},
    "qwen3-1.7b": {"tie_word_embeddings": True, "d_model": 2048, "n_layers": 28, "n_heads": 16, "d_ff": 6144},
    "qwen3-8b": {},
}


class NormalizedAttention(GroupedQueryAttention):
    """Submodules q_norm, k_norm: for the queries and keys of each head, of width d_head."""

    def __init__(self, c: llama.Config, norm: Any = RMSNorm, **how: Any) -> None:
        super().__init__(c.d_model, c.n_heads, c.n_kv_heads, d_head=c.d_head, dropout=c.attn_dropout, **how)
        width = c.d_head or c.d_model // c.n_heads
        self.q_norm, self.k_norm = norm(width, c.eps), norm(width, c.eps)

    def queries_keys_values(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        q, k, v = super().queries_keys_values(x)
        return self.q_norm(q), self.k_norm(k), v


class Layer(llama.Layer):
    def attention(self, c: Config, index: int) -> nn.Module:
        return NormalizedAttention(c, bias=c.attn_bias, out_bias=c.attn_bias)


class Qwen3(llama.Llama):
    LAYER = Layer

    def layer_types(self) -> list[str]:
        return qwen2.layer_types(self.config)


MODEL = Qwen3
QK_NORMS = {f"layers.{{}}.self_attn.{name}": f"layers.{{}}.attn.{name}" for name in ("q_norm", "k_norm")}
HF, HF_TIED = llama.llama_names(False, QK_NORMS), llama.llama_names(True, QK_NORMS)
HF_HEADS = {
    "Qwen3Model": None, "Qwen3ForCausalLM": "causal_lm", "Qwen3ForSequenceClassification": "sequence_classification",
    "Qwen3ForTokenClassification": "token_classification", "Qwen3ForQuestionAnswering": "question_answering",
}  # fmt: skip
HF_FIELDS = {**qwen2.HF_FIELDS, "attention_bias": "attn_bias"}
HF_FIXED = {"mlp_bias": False}
HF_UNUSED = llama.HF_UNUSED
from_hf_fields, to_hf_fields = read_rope, write_rope
HF_DEFAULTS = {
    "n_layers": 32,
    "n_kv_heads": 32,
    "d_ff": 22016,
    "max_length": 32768,
    "rope_theta": 10000.0,
    "bos_token_id": None,
    "eos_token_id": None,
}  # transformers' defaults, for fields that a file omits
