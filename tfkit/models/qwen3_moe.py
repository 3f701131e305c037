"""Qwen3's mixtures of experts (Yang et al. 2025, arXiv:2505.09388).

Parent   mixtral (by idea)
Differs  128 small experts in each layer instead of eight large ones, of which a token uses eight: 30 billion
         parameters, of which a token uses three; Qwen3's attention, whose queries and keys are normalised; some layers
         may have one feed-forward network for all tokens
Trained  objectives.causal_lm, and a loss that balances the load of the experts (nn.load_balancing_loss)
"""

from __future__ import annotations

from typing import Any

from torch import nn

from ..nn.experts import MixtureOfExperts, stack_experts
from ..nn.feed_forward import GatedFeedForward, get_activation
from . import llama, mixtral, qwen3
from ._base import configuration
from ._rope import read_rope, write_rope


@configuration
class Config(mixtral.Config):
    vocab_size: int = 151936
    d_model: int = 2048
    n_layers: int = 48
    n_kv_heads: int | None = 4
    d_head: int | None = 128
    d_ff: int = 6144  # of layers without experts
    d_expert: int = 768
    n_experts: int = 128
    experts_per_token: int = 8
    normalize_weights: bool = True  # whether the weights of a token's experts sum to 1
    expert_interval: int = 1  # the last of each so many layers has experts
    dense_layers: list[Any] | tuple[Any, ...] = ()  # numbers of further layers without experts
    max_length: int = 40960
    eps: float = 1e-6
    bos_token_id: int | None = 151643
    eos_token_id: int | list[int] | None = 151645


PRESETS: dict[str, dict[str, Any]] = {
    "qwen3-30b-a3b": {},
    "qwen3-235b-a22b": {"d_model": 4096, "n_layers": 94, "n_heads": 64, "d_ff": 12288, "d_expert": 1536},
}


def has_experts(c: Any, index: int) -> bool:
    """Whether a layer has experts, and not one feed-forward network for all tokens."""
    return c.n_experts > 0 and index not in c.dense_layers and (index + 1) % c.expert_interval == 0


class Layer(qwen3.Layer):
    def feed_forward(self, c: Config, index: int) -> nn.Module:
        activation = get_activation(c.activation)
        if not has_experts(c, index):
            return GatedFeedForward(c.d_model, c.d_ff, activation)
        experts = [GatedFeedForward(c.d_model, c.d_expert, activation) for _ in range(c.n_experts)]
        return MixtureOfExperts(c.d_model, experts, c.experts_per_token, c.normalize_weights)


class Qwen3MoE(llama.Llama):
    LAYER = Layer
    forward = mixtral.routed_forward

    def prepare_steps(self) -> bool:
        return stack_experts(self)


MODEL = Qwen3MoE
ROWS = {
    **qwen3.QK_NORMS,
    "layers.{}.mlp.gate": "layers.{}.ff.router",
    **{f"layers.{{}}.mlp.experts.{{}}.{x}_proj": f"layers.{{}}.ff.experts.{{}}.{x}" for x in ("gate", "up", "down")},
}
HF, HF_TIED = llama.llama_names(False, ROWS), llama.llama_names(True, ROWS)
HF_HEADS = {
    "Qwen3MoeModel": None, "Qwen3MoeForCausalLM": "causal_lm",
    "Qwen3MoeForSequenceClassification": "sequence_classification",
    "Qwen3MoeForTokenClassification": "token_classification", "Qwen3MoeForQuestionAnswering": "question_answering",
}  # fmt: skip
HF_FIELDS = {
    **{published: local for published, local in mixtral.HF_FIELDS.items() if published != "num_local_experts"},
    "attention_bias": "attn_bias", "num_experts": "n_experts", "moe_intermediate_size": "d_expert",
    "norm_topk_prob": "normalize_weights", "decoder_sparse_step": "expert_interval", "mlp_only_layers": "dense_layers",
}  # fmt: skip
HF_FIXED = {"mlp_bias": False}
HF_UNUSED = llama.HF_UNUSED | {"use_sliding_window", "max_window_layers"}
HF_DEFAULTS = {  # transformers' defaults, for fields that a file omits
    "n_layers": 24, "d_head": None, "max_length": 32768, "rope_theta": 10000.0, "normalize_weights": False,
    "window": 4096, "bos_token_id": None, "eos_token_id": None,
}  # fmt: skip


def from_hf_fields(config_dict: dict[str, Any]) -> dict[str, Any]:
    """As of other models; the number of experts has two names, and a window counts only where it is switched on."""
    config_dict = read_rope(config_dict)
    if "num_local_experts" in config_dict:
        config_dict["num_experts"] = config_dict.pop("num_local_experts")
    if not config_dict.get("use_sliding_window"):
        config_dict["sliding_window"] = None
    if config_dict.get("mlp_only_layers", ()) is None:
        config_dict["mlp_only_layers"] = []
    return config_dict


def to_hf_fields(written: dict[str, Any]) -> dict[str, Any]:
    """The inverse."""
    return write_rope({**written, "use_sliding_window": written["sliding_window"] is not None})
