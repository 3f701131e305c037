"""SmolLM3 (Bakouch et al. 2025, https://huggingface.co/blog/smollm3).

Parent   llama
Differs  every fourth layer rotates nothing and so has no positions at all (NoPE, Kazemnejad et al. 2023,
         arXiv:2305.19466; as one layer in four: Yang et al. 2025, arXiv:2501.18795): a query finds a key by its content
         however far away it is, which longer texts profit from; tied embeddings in a model of three billion parameters
Trained  objectives.causal_lm
"""

from __future__ import annotations

from typing import Any

from torch import Tensor

from ..nn import Cache
from ..nn.grouped_query import Rotation
from . import llama
from ._base import configuration
from ._rope import read_rope, write_rope
from .llama import FULL, SLIDING


@configuration
class Config(llama.Config):
    vocab_size: int = 128256
    d_model: int = 2048
    n_layers: int = 36
    n_heads: int = 16
    n_kv_heads: int | None = 4
    max_length: int = 65536
    rope_theta: float = 5e6
    nope_interval: int = 4  # the last of each so many layers has no positions
    rotated_layers: list[Any] | tuple[Any, ...] | None = None  # 1 or 0 for each layer; overrides nope_interval
    window: int | None = None
    use_window: bool = False  # in the layers without positions
    layer_types: list[Any] | tuple[Any, ...] | None = (
        None  # "full_attention" or "sliding_attention" for each layer, which overrides use_window
    )
    tie_word_embeddings: bool = True
    bos_token_id: int | None = 128000
    eos_token_id: int | list[int] | None = 128001
    pad_token_id: int | None = 128004


PRESETS: dict[str, dict[str, Any]] = {"smollm3-3b": {}}


def rotated_layers(c: Config) -> list[bool]:
    """Whether each layer rotates its queries and keys. Raises ValueError if the configuration does not say so for every
    layer."""
    if c.rotated_layers is None:
        if c.nope_interval < 1:
            raise ValueError(f"nope_interval={c.nope_interval}: must be a whole number, at least 1")
        return [(index + 1) % c.nope_interval != 0 for index in range(c.n_layers)]
    if len(c.rotated_layers) < c.n_layers:
        raise ValueError(f"rotated_layers names {len(c.rotated_layers)} layers; n_layers is {c.n_layers}")
    return [bool(rotated) for rotated in c.rotated_layers[: c.n_layers]]


def layer_types(c: Config) -> list[str]:
    """The attention of each layer. Raises ValueError if the configuration has windows without a width."""
    windowed = c.use_window and c.window is not None
    given = c.layer_types
    found = [SLIDING if windowed and not rotated else FULL for rotated in rotated_layers(c)]
    found = found if given is None else list(given)
    if SLIDING in found and c.window is None:
        raise ValueError(f"layer_types has {SLIDING!r}, but window is None: give the width of the window")
    return found


class Layer(llama.Layer):
    def __init__(self, c: Config, index: int) -> None:
        super().__init__(c, index)
        self.rotated = rotated_layers(c)[index]

    def forward(self, x: Tensor, rotation: Rotation, mask: Tensor | None, cache: Cache | None) -> Tensor:
        """x [B,L,E], mask bool, broadcastable to [B,H,L,K] -> [B,L,E]"""
        x = x + self.attn(self.norm1(x), rotation if self.rotated else None, mask=mask, cache=cache)
        return x + self.ff(self.norm2(x))


class SmolLM3(llama.Llama):
    LAYER = Layer

    def layer_types(self) -> list[str]:
        return layer_types(self.config)


MODEL = SmolLM3
HF, HF_TIED = llama.HF, llama.HF_TIED
HF_HEADS = {
    "SmolLM3Model": None, "SmolLM3ForCausalLM": "causal_lm",
    "SmolLM3ForSequenceClassification": "sequence_classification",
    "SmolLM3ForTokenClassification": "token_classification", "SmolLM3ForQuestionAnswering": "question_answering",
}  # fmt: skip
HF_FIELDS = {
    **llama.HF_FIELDS, "no_rope_layer_interval": "nope_interval", "no_rope_layers": "rotated_layers",
    "sliding_window": "window", "use_sliding_window": "use_window", "layer_types": "layer_types",
}  # fmt: skip
HF_FIXED: dict[str, Any] = {}
HF_UNUSED = llama.HF_UNUSED | {"max_window_layers"}
from_hf_fields, to_hf_fields = read_rope, write_rope
HF_DEFAULTS = {"max_length": 32768, "rope_theta": 2e6}  # transformers' defaults, for fields that a file omits
