"""Phi-3 (Abdin et al. 2024, arXiv:2404.14219).

Parent   llama
Differs  one fused projection for queries, keys and values, and one for gate and up; dropout after each sub-layer; long
         texts by LongRoPE, a scaling factor for each pair of columns; the 4k models have sliding-window attention
Trained  objectives.causal_lm
If a text grows past `trained_length` while decoding, the cache is filled anew (`rotations_change_after`); a model that
is given only the new tokens cannot do so, and warns.
"""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn

from ..nn import Cache, Dropout
from ..nn.attention import split_heads
from ..nn.feed_forward import get_activation
from ..nn.grouped_query import GroupedQueryAttention, Rotation
from ..nn.in_place import multiply
from . import llama
from ._base import configuration
from ._rope import read_rope, write_rope


@configuration
class Config(llama.Config):
    vocab_size: int = 32064
    d_model: int = 3072
    d_ff: int = 8192
    max_length: int = 4096
    trained_length: int = 4096  # original_max_position_embeddings
    eps: float = 1e-5
    dropout: float = 0.0
    rotary_fraction: float = 1.0  # of each head's columns
    window: int | None = 2047
    eos_token_id: int | list[int] | None = 32000
    pad_token_id: int | None = 32000


PRESETS: dict[str, dict[str, Any]] = {
    "phi-3-mini-4k": {},
    "phi-3-medium-4k": {"d_model": 5120, "n_layers": 40, "n_heads": 40, "n_kv_heads": 10, "d_ff": 17920},
}


class FusedAttention(GroupedQueryAttention):
    """Submodule qkv_proj, with rows [q | k | v], instead of three projections."""

    def add_projections(self, d_model: int, bias: bool) -> None:
        self.qkv_proj = nn.Linear(d_model, (self.n_heads + 2 * self.n_kv_heads) * self.d_head, bias=bias)

    def queries_keys_values(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        widths = [heads * self.d_head for heads in (self.n_heads, self.n_kv_heads, self.n_kv_heads)]
        q, k, v = self.qkv_proj(x).split(widths, dim=-1)
        return split_heads(q, self.n_heads), split_heads(k, self.n_kv_heads), split_heads(v, self.n_kv_heads)


class FusedFeedForward(nn.Module):
    """down(activation(gate(x)) · up(x)). Submodules gate_up, rows [gate | up], and down."""

    def __init__(self, c: Config) -> None:
        super().__init__()
        self.gate_up = nn.Linear(c.d_model, 2 * c.d_ff, bias=False)
        self.down = nn.Linear(c.d_ff, c.d_model, bias=False)
        self.activation = get_activation(c.activation)

    def forward(self, x: Tensor) -> Tensor:
        """x [B,L,E] -> [B,L,E]"""
        gate, up = self.gate_up(x).chunk(2, dim=-1)
        return self.down(multiply(self.activation(gate), up))


class Layer(llama.Layer):
    def __init__(self, c: Config, index: int) -> None:
        super().__init__(c, index)
        self.drop = Dropout(c.dropout)

    def attention(self, c: Config, index: int) -> nn.Module:
        return FusedAttention(c.d_model, c.n_heads, c.n_kv_heads, d_head=c.d_head, dropout=c.attn_dropout)

    def feed_forward(self, c: Config, index: int) -> nn.Module:
        return FusedFeedForward(c)

    def forward(self, x: Tensor, rotation: Rotation, mask: Tensor | None, cache: Cache | None) -> Tensor:
        x = x + self.drop(self.attn(self.norm1(x), rotation, mask=mask, cache=cache))
        return x + self.drop(self.ff(self.norm2(x)))


class Phi3(llama.Llama):
    HEAD_CLASSES = llama.CLASSIFICATION_HEADS
    HEADS = (None, "causal_lm", *HEAD_CLASSES)
    LAYER = Layer

    @property
    def rotations_change_after(self) -> int | None:
        """The trained length, if LongRoPE has other factors for texts beyond it."""
        return self.last_position if (self.config.rope_scaling or {}).get("rope_type") == "longrope" else None


MODEL = Phi3
ROWS = {
    **{f"layers.{{}}.self_attn.{name}": None for name in ("q_proj", "k_proj", "v_proj")},
    "layers.{}.self_attn.qkv_proj": "layers.{}.attn.qkv_proj", "layers.{}.mlp.gate_proj": None,
    "layers.{}.mlp.up_proj": None, "layers.{}.mlp.gate_up_proj": "layers.{}.ff.gate_up",
}  # fmt: skip
HF, HF_TIED = llama.llama_names(False, ROWS), llama.llama_names(True, ROWS)
HF_HEADS = {
    "Phi3Model": None, "Phi3ForCausalLM": "causal_lm", "Phi3ForSequenceClassification": "sequence_classification",
    "Phi3ForTokenClassification": "token_classification",
}  # fmt: skip
HF_FIELDS = {
    **{published: local for published, local in llama.HF_FIELDS.items() if local not in ("attn_bias", "ff_bias")},
    "sliding_window": "window", "resid_pdrop": "dropout",
    "partial_rotary_factor": "rotary_fraction", "original_max_position_embeddings": "trained_length",
}  # fmt: skip
HF_FIXED = {"attention_bias": False, "mlp_bias": False}
HF_UNUSED = llama.HF_UNUSED | {"embd_pdrop"}  # transformers does not read it either


def from_hf_fields(config_dict: dict[str, Any]) -> dict[str, Any]:
    """As for Llama; files from the first weeks name LongRoPE "su" or "yarn"."""
    config_dict = {"original_max_position_embeddings": Config().trained_length, **config_dict}
    found = read_rope(config_dict)
    if (found["rope_scaling"] or {}).get("rope_type") == "yarn":
        found["rope_scaling"]["rope_type"] = "longrope"
    return found


to_hf_fields = write_rope
HF_DEFAULTS = {"window": None}  # transformers' defaults, for fields that a file omits
