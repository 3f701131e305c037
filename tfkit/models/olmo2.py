"""OLMo 2 (OLMo team 2024, arXiv:2501.00656).

Parent   llama
Differs  norms after each sub-layer, before the residual addition, and none before it; queries and keys are normalised
         over all heads at once (QK-norm)
Trained  objectives.causal_lm, on published data
"""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn

from ..nn import Cache
from ..nn.attention import split_heads
from ..nn.grouped_query import GroupedQueryAttention, Rotation
from ..nn.rms_norm import WideRMSNorm
from . import llama
from ._base import configuration
from ._rope import read_rope, write_rope


@configuration
class Config(llama.Config):
    vocab_size: int = 100352
    eps: float = 1e-06
    pad_token_id: int | None = 100277
    bos_token_id: int | None = None
    eos_token_id: int | list[int] | None = 100257
    max_length: int = 4096
    rope_theta: float = 500000.0


PRESETS: dict[str, dict[str, Any]] = {
    "olmo-2-1b": {"d_model": 2048, "n_layers": 16, "n_heads": 16, "d_ff": 8192},
    "olmo-2-7b": {},
    "olmo-2-13b": {"d_model": 5120, "n_layers": 40, "n_heads": 40, "d_ff": 13824},
}


class WholeNormAttention(GroupedQueryAttention):
    """Submodules q_norm, k_norm: over the joint width of all heads."""

    def __init__(self, c: Config) -> None:
        super().__init__(c.d_model, c.n_heads, c.n_kv_heads, d_head=c.d_head, bias=c.attn_bias, out_bias=c.attn_bias,
                         dropout=c.attn_dropout)  # fmt: skip
        self.q_norm = WideRMSNorm(self.q_proj.out_features, c.eps)
        self.k_norm = WideRMSNorm(self.k_proj.out_features, c.eps)

    def queries_keys_values(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        q = split_heads(self.q_norm(self.q_proj(x)), self.n_heads)
        k = split_heads(self.k_norm(self.k_proj(x)), self.n_kv_heads)
        return q, k, split_heads(self.v_proj(x), self.n_kv_heads)


class Layer(llama.Layer):
    def norm(self, c: Config) -> nn.Module:
        return WideRMSNorm(c.d_model, c.eps)

    def attention(self, c: Config, index: int) -> nn.Module:
        return WholeNormAttention(c)

    def forward(self, x: Tensor, rotation: Rotation, mask: Tensor | None, cache: Cache | None) -> Tensor:
        x = x + self.norm1(self.attn(x, rotation, mask=mask, cache=cache))
        return x + self.norm2(self.ff(x))


class OLMo2(llama.Llama):
    HEAD_CLASSES = {"sequence_classification": llama.Llama.HEAD_CLASSES["sequence_classification"]}
    HEADS = (None, "causal_lm", *HEAD_CLASSES)
    LAYER = Layer


MODEL = OLMo2
ROWS = {
    "layers.{}.input_layernorm": None, "layers.{}.post_attention_layernorm": "layers.{}.norm1",
    "layers.{}.post_feedforward_layernorm": "layers.{}.norm2",
    **{f"layers.{{}}.self_attn.{name}": f"layers.{{}}.attn.{name}" for name in ("q_norm", "k_norm")},
}  # fmt: skip
HF, HF_TIED = llama.llama_names(False, ROWS), llama.llama_names(True, ROWS)
HF_HEADS = {
    "Olmo2Model": None, "Olmo2ForCausalLM": "causal_lm", "Olmo2ForSequenceClassification": "sequence_classification",
}  # fmt: skip
HF_FIELDS = {published: local for published, local in llama.HF_FIELDS.items() if local != "ff_bias"}
HF_FIXED = {"mlp_bias": False}
HF_UNUSED = llama.HF_UNUSED
from_hf_fields, to_hf_fields = read_rope, write_rope
HF_DEFAULTS = {
    "vocab_size": 50304,
    "max_length": 2048,
    "eps": 1e-05,
    "rope_theta": 10000.0,
    "eos_token_id": 50279,
    "pad_token_id": 1,
}  # transformers' defaults, for fields that a file omits
