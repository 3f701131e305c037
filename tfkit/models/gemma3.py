"""Gemma 3, the text model (Gemma team 2025, arXiv:2503.19786).

Parent   gemma2 (by idea)
Differs  five layers in six have sliding-window attention, with the usual rotary base; the sixth has full attention with
         a larger base, for long texts; each head's queries and keys are normalised (QK-norm) instead of soft-capping
Trained  objectives.causal_lm, by distillation
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from ..nn.grouped_query import Rotation
from ..nn.rms_norm import UnitOffsetRMSNorm
from ..nn.rope import rope_frequencies, rope_rotation
from . import _task_heads as task_heads
from . import gemma2, llama
from ._base import configuration
from ._rope import read_rope, write_rope
from .llama import FULL, SLIDING
from .qwen3 import QK_NORMS, NormalizedAttention


@configuration
class Config(gemma2.Config):
    vocab_size: int = 262144
    max_length: int = 32768
    rope_theta: float = 1e6
    local_rope_theta: float = 10000.0  # for the layers with a window, without scaling
    period: int = 6  # one layer in every `period` has full attention
    bidirectional: bool = False  # no causality; windows lie half on each side
    score_cap: float | None = None
    logit_cap: float | None = None
    d_model: int = 1152
    n_heads: int = 4
    n_kv_heads: int | None = 1
    d_ff: int = 6912
    window: int = 512


PRESETS: dict[str, dict[str, Any]] = {"gemma-3-270m": {"d_model": 640, "n_layers": 18, "d_ff": 2048}, "gemma-3-1b": {}}


class Layer(gemma2.Layer):
    def attention(self, c: Any, index: int) -> nn.Module:
        return NormalizedAttention(
            c,
            UnitOffsetRMSNorm,
            bias=c.attn_bias,
            out_bias=c.attn_bias,
            scale=c.scale_width**-0.5,
            causal=not c.bidirectional,
        )


class Gemma3(llama.Llama):
    HEAD_CLASSES = {"sequence_classification": task_heads.LastTokenClassificationHead}
    HEADS = (None, "causal_lm", *HEAD_CLASSES)
    LAYER = Layer

    def layer_types(self) -> list[str]:
        c = self.config
        if c.layer_types is not None:
            return list(c.layer_types)
        return [SLIDING if (index + 1) % c.period else FULL for index in range(c.n_layers)]

    def reach(self) -> tuple[int, int]:
        half = self.config.window // 2
        return (half, half) if self.config.bidirectional else super().reach()

    def embed_inputs(self, ids: Tensor) -> Tensor:
        return gemma2.scale_embeddings(super().embed_inputs(ids))

    def score(self, x: Tensor) -> Tensor:
        return gemma2.soft_cap(super().score(x), self.config.logit_cap)

    def rotation(self, kind: str, positions: Tensor, length: int, dtype: torch.dtype) -> Rotation | None:
        if kind == FULL:
            return super().rotation(kind, positions, length, dtype)
        c = self.config
        width = c.d_head or c.d_model // c.n_heads
        frequencies, factor = rope_frequencies(
            width, c.local_rope_theta, length=length, max_length=c.max_length, dtype=dtype, device=positions.device
        )
        return rope_rotation(positions, frequencies, factor, dtype)


MODEL = Gemma3
ROWS = {**gemma2.ROWS, **QK_NORMS}
HF, HF_TIED = llama.llama_names(False, ROWS), llama.llama_names(True, ROWS)
HF_HEADS = {
    "Gemma3TextModel": None, "Gemma3ForCausalLM": "causal_lm",
    "Gemma3TextForSequenceClassification": "sequence_classification",
}  # fmt: skip
HF_FIELDS = {
    **{published: local for published, local in gemma2.HF_FIELDS.items() if local != "score_cap"},
    "rope_local_base_freq": "local_rope_theta", "sliding_window_pattern": "period",
    "use_bidirectional_attention": "bidirectional",
}  # fmt: skip
HF_FIXED = {"mlp_bias": False}
HF_UNUSED = gemma2.HF_UNUSED | {"attn_logit_softcapping", "_sliding_window_pattern"}


def from_hf_fields(config_dict: dict[str, Any]) -> dict[str, Any]:
    """5.x files nest the two kinds of positions by kind of layer."""
    config_dict = dict(config_dict)
    rope = config_dict.get("rope_parameters") or {}
    if FULL in rope or SLIDING in rope:
        local = rope.get(SLIDING) or {}
        config_dict["rope_local_base_freq"] = local.get("rope_theta", Config().local_rope_theta)
        config_dict["rope_parameters"] = {"rope_theta": Config().rope_theta, **(rope.get(FULL) or {})}
    return read_rope(config_dict)


def to_hf_fields(written: dict[str, Any]) -> dict[str, Any]:
    """The inverse of `from_hf_fields`."""
    written = dict(written)
    local = {"rope_type": "default", "rope_theta": written.pop("rope_local_base_freq")}
    written["_sliding_window_pattern"] = written["sliding_window_pattern"]
    written = write_rope(written)
    return {**written, "rope_parameters": {FULL: written["rope_parameters"], SLIDING: local}}


HF_DEFAULTS = {
    "vocab_size": 262208,
    "d_model": 2304,
    "n_heads": 8,
    "n_kv_heads": 4,
    "d_ff": 9216,
    "max_length": 131072,
    "window": 4096,
}  # transformers' defaults, for fields that a file omits
