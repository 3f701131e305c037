"""Gemma 2 (Gemma team 2024, arXiv:2408.00118).

Parent   llama
Differs  every second layer has sliding-window attention; attention scores and final logits are soft-capped by a tanh; a
         norm after each sub-layer as well as before it, with weights stored as offsets from 1; embeddings times
         sqrt(d_model); a feed-forward network gated by GELU (GeGLU); tied input and output embeddings
Trained  objectives.causal_lm, the small ones by distillation from a larger model's probabilities
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from torch import Tensor, nn

from ..nn import Cache
from ..nn.grouped_query import GroupedQueryAttention, Rotation
from ..nn.rms_norm import UnitOffsetRMSNorm
from ..objectives.chunked_cross_entropy import DeferredLogits
from . import llama
from ._base import configuration
from ._rope import read_rope, write_rope
from .llama import FULL, SLIDING


@configuration
class Config(llama.Config):
    vocab_size: int = 256000
    d_model: int = 2304
    n_layers: int = 26
    n_heads: int = 8
    n_kv_heads: int | None = 4
    d_head: int | None = 256
    d_ff: int = 9216
    max_length: int = 8192
    activation: str = "gelu_pytorch_tanh"
    window: int = 4096
    layer_types: list[Any] | tuple[Any, ...] | None = (
        None  # default: windows in every second layer, starting with the first
    )
    scale_width: int = 256  # scores are divided by the square root of this
    score_cap: float | None = 50.0
    logit_cap: float | None = 30.0
    tie_word_embeddings: bool = True
    bos_token_id: int | None = 2
    eos_token_id: int | list[int] | None = 1
    pad_token_id: int | None = 0


PRESETS: dict[str, dict[str, Any]] = {
    "gemma-2-2b": {},
    "gemma-2-9b": {"d_model": 3584, "n_layers": 42, "n_heads": 16, "n_kv_heads": 8, "d_ff": 14336},
    "gemma-2-27b": {
        "d_model": 4608, "n_layers": 46, "n_heads": 32, "n_kv_heads": 16, "d_head": 128, "d_ff": 36864,
        "scale_width": 144,
    },
}  # fmt: skip


class Layer(llama.Layer):
    def __init__(self, c: Config, index: int) -> None:
        super().__init__(c, index)
        self.after_attn, self.after_ff = self.norm(c), self.norm(c)

    def norm(self, c: Config) -> nn.Module:
        return UnitOffsetRMSNorm(c.d_model, c.eps)

    def attention(self, c: Config, index: int) -> nn.Module:
        return GroupedQueryAttention(
            c.d_model, c.n_heads, c.n_kv_heads, d_head=c.d_head, bias=c.attn_bias, out_bias=c.attn_bias,
            scale=c.scale_width**-0.5, softcap=c.score_cap, dropout=c.attn_dropout,
        )  # fmt: skip

    def forward(self, x: Tensor, rotation: Rotation, mask: Tensor | None, cache: Cache | None) -> Tensor:
        x = x + self.after_attn(self.attn(self.norm1(x), rotation, mask=mask, cache=cache))
        return x + self.after_ff(self.ff(self.norm2(x)))


def scale_embeddings(x: Tensor) -> Tensor:
    """Embeddings [B,L,E] times sqrt(E), which is rounded to the weights' dtype as in training -> [B,L,E]"""
    return x * x.new_full((), x.size(-1) ** 0.5)


def soft_cap(logits: Tensor, cap: float | None) -> Tensor:
    """Bounds logits between -cap and cap by a tanh; no change if cap is None."""
    if isinstance(logits, DeferredLogits):
        return replace(logits, cap=cap)
    return logits if cap is None else cap * (logits / cap).tanh()


class Gemma2(llama.Llama):
    HEAD_CLASSES = llama.CLASSIFICATION_HEADS
    HEADS = (None, "causal_lm", *HEAD_CLASSES)
    LAYER = Layer
    PERIOD = 2  # one layer in every PERIOD has full attention

    def layer_types(self) -> list[str]:
        c = self.config
        if c.layer_types is not None:
            return list(c.layer_types)
        return [SLIDING if (index + 1) % self.PERIOD else FULL for index in range(c.n_layers)]

    def embed_inputs(self, ids: Tensor) -> Tensor:
        return scale_embeddings(super().embed_inputs(ids))

    def score(self, x: Tensor) -> Tensor:
        return soft_cap(super().score(x), self.config.logit_cap)


MODEL = Gemma2
ROWS = {
    "layers.{}.post_attention_layernorm": "layers.{}.after_attn",
    "layers.{}.pre_feedforward_layernorm": "layers.{}.norm2",
    "layers.{}.post_feedforward_layernorm": "layers.{}.after_ff",
}
HF, HF_TIED = llama.llama_names(False, ROWS), llama.llama_names(True, ROWS)
HF_HEADS = {
    "Gemma2Model": None, "Gemma2ForCausalLM": "causal_lm", "Gemma2ForSequenceClassification": "sequence_classification",
    "Gemma2ForTokenClassification": "token_classification",
}  # fmt: skip
HF_FIELDS = {
    **{published: local for published, local in llama.HF_FIELDS.items() if local not in ("ff_bias", "activation")},
    "hidden_activation": "activation", "sliding_window": "window", "layer_types": "layer_types",
    "query_pre_attn_scalar": "scale_width", "attn_logit_softcapping": "score_cap",
    "final_logit_softcapping": "logit_cap",
}  # fmt: skip
HF_FIXED = {"mlp_bias": False, "use_bidirectional_attention": False}
HF_UNUSED = llama.HF_UNUSED | {"hidden_act", "cache_implementation"}
from_hf_fields, to_hf_fields = read_rope, write_rope
