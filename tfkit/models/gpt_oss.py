"""gpt-oss 20B and 120B (OpenAI 2025, arXiv:2508.10925).

Parent   mixtral (by idea)
Differs  every second layer has sliding-window attention over 128 tokens; each head has an attention sink, a learned
         score for attending to nothing; biases everywhere; the experts' activations are clamped; context extended by
         YaRN from the start
Trained  objectives.causal_lm, then reinforcement learning on chains of thought
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from functools import partial
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from ..nn.experts import apply_experts, grouped_mm, route_top_k
from ..nn.grouped_query import GroupedQueryAttention
from ..nn.rms_norm import WideRMSNorm
from . import llama, mixtral
from ._base import configuration
from ._rope import read_rope, write_rope
from .llama import FULL, SLIDING

YARN = {
    "rope_type": "yarn", "factor": 32.0, "beta_fast": 32.0, "beta_slow": 1.0, "truncate": False,
    "original_max_position_embeddings": 4096,
}  # fmt: skip


@configuration
class Config(mixtral.Config):
    vocab_size: int = 201088
    d_model: int = 2880
    n_layers: int = 36
    n_heads: int = 64
    d_head: int | None = 64
    d_ff: int = 2880
    attn_bias: bool = True
    rope_theta: float = 150000.0
    rope_scaling: dict[str, Any] | None = field(default_factory=YARN.copy)
    window: int = 128
    layer_types: list[Any] | tuple[Any, ...] | None = (
        None  # default: windows in every second layer, starting with the first
    )
    n_experts: int = 128
    experts_per_token: int = 4
    gate_slope: float = 1.702  # of the sigmoid in an expert's gate
    gate_limit: float = 7.0  # the upper bound of a gate, and the bound of both signs for the other factor
    bos_token_id: int | None = 199998
    eos_token_id: int | list[int] | None = 200002
    max_length: int = 131072
    pad_token_id: int | None = 199999


PRESETS: dict[str, dict[str, Any]] = {"gpt-oss-20b": {"n_layers": 24, "n_experts": 32}, "gpt-oss-120b": {}}


class Experts(nn.Module):
    """All experts of a layer, with one tensor for each of their two matrices, as in the files.

    Parameters gate_up [N,E,2·F], whose even columns are the gate's and odd ones the input's; gate_up_bias [N,2·F];
    down [N,F,E]; down_bias [N,E].
    """

    def __init__(self, c: Config) -> None:
        super().__init__()
        self.slope, self.limit, self.d_ff = c.gate_slope, c.gate_limit, c.d_ff
        self.gate_up = nn.Parameter(torch.empty(c.n_experts, c.d_model, 2 * c.d_ff))
        self.gate_up_bias = nn.Parameter(torch.empty(c.n_experts, 2 * c.d_ff))
        self.down = nn.Parameter(torch.empty(c.n_experts, c.d_ff, c.d_model))
        self.down_bias = nn.Parameter(torch.empty(c.n_experts, c.d_model))

    def expert_functions(self) -> list[Callable[[Tensor], Tensor]]:
        """The experts one by one. (unbind at once: indexing would create a full-size gradient for each expert.)"""
        parts = (p.unbind() for p in (self.gate_up, self.gate_up_bias, self.down, self.down_bias))
        return [partial(self.expert, *own) for own in zip(*parts, strict=True)]

    def expert(self, gate_up: Tensor, gate_up_bias: Tensor, down: Tensor, down_bias: Tensor, x: Tensor) -> Tensor:
        """gate_up [E,2·F], gate_up_bias [2·F], down [F,E], down_bias [E], x [T,E] -> [T,E]"""
        return self.activate(x @ gate_up + gate_up_bias) @ down + down_bias

    def activate(self, both: Tensor) -> Tensor:
        """[...,2·F] -> [...,F]"""
        gate = both[..., ::2].clamp(max=self.limit)
        up = both[..., 1::2].clamp(-self.limit, self.limit)
        return (up + 1) * gate * torch.sigmoid(self.slope * gate)

    def run(self, x: Tensor, index: Tensor | None) -> Tensor:
        """x [G,t,E] by the experts `index` int64 [G], or by all in order -> [G,t,E]"""
        parts = (self.gate_up, self.gate_up_bias[:, None], self.down, self.down_bias[:, None])
        gate_up, gate_up_bias, down, down_bias = (p if index is None else p.index_select(0, index) for p in parts)
        return torch.bmm(self.activate(torch.bmm(x, gate_up) + gate_up_bias), down) + down_bias

    def run_grouped(self, x: Tensor, ends: Tensor, expert_of_row: Tensor) -> Tensor:
        """As `nn.experts.StackedExperts.run_grouped`"""
        both = grouped_mm(x, self.gate_up, ends)
        inner = self.activate(both + self.gate_up_bias[expert_of_row].to(both.dtype))
        out = grouped_mm(inner, self.down, ends)
        return out + self.down_bias[expert_of_row].to(out.dtype)

    def is_stacked(self) -> bool:
        return True

    def __len__(self) -> int:
        return len(self.down)


class Routed(nn.Module):
    """As `nn.experts.MixtureOfExperts`, with a bias on the router."""

    def __init__(self, c: Config) -> None:
        super().__init__()
        self.k = c.experts_per_token
        if not 1 <= self.k <= c.n_experts:
            raise ValueError(f"each token takes {self.k} experts, but there are only {c.n_experts}")
        self.router, self.experts = nn.Linear(c.d_model, c.n_experts), Experts(c)

    def forward(self, x: Tensor) -> Tensor:
        """x [B,L,E] -> [B,L,E]. The published order, the k best and then their softmax, gives the same weights."""
        weights, chosen = route_top_k(self.router(x.flatten(0, 1)), self.k)
        return apply_experts(self.experts, x, weights.to(x.dtype), chosen)


class Layer(llama.Layer):
    def norm(self, c: Config) -> nn.Module:
        return WideRMSNorm(c.d_model, c.eps)

    def attention(self, c: Config, index: int) -> nn.Module:
        return GroupedQueryAttention(
            c.d_model, c.n_heads, c.n_kv_heads, d_head=c.d_head, bias=c.attn_bias, out_bias=c.attn_bias, sinks=True,
            dropout=c.attn_dropout,
        )  # fmt: skip

    def feed_forward(self, c: Config, index: int) -> nn.Module:
        return Routed(c)


class GPTOSS(llama.Llama):
    HEAD_CLASSES = llama.CLASSIFICATION_HEADS
    HEADS = (None, "causal_lm", *HEAD_CLASSES)
    LAYER: ClassVar[Any] = Layer
    forward = mixtral.routed_forward

    def layer_types(self) -> list[str]:
        c = self.config
        if c.layer_types is not None:
            return list(c.layer_types)
        return [FULL if index % 2 else SLIDING for index in range(c.n_layers)]

    def init_weights(self, module: nn.Module) -> None:
        super().init_weights(module)
        if isinstance(module, Experts):
            for name, parameter in module.named_parameters():
                nn.init.zeros_(parameter) if "bias" in name else nn.init.normal_(parameter, std=self.config.init_std)
        if isinstance(module, GroupedQueryAttention) and module.sinks is not None:
            nn.init.normal_(module.sinks, std=self.config.init_std)


MODEL = GPTOSS
ROWS = {
    **{f"layers.{{}}.mlp.{name}": None for name in ("gate_proj", "up_proj", "down_proj")},
    "layers.{}.self_attn.sinks": "layers.{}.attn.sinks",
    "layers.{}.mlp.router": "layers.{}.ff.router",
    "layers.{}.mlp.experts.gate_up_proj": "layers.{}.ff.experts.gate_up",
    "layers.{}.mlp.experts.gate_up_proj_bias": "layers.{}.ff.experts.gate_up_bias",
    "layers.{}.mlp.experts.down_proj": "layers.{}.ff.experts.down",
    "layers.{}.mlp.experts.down_proj_bias": "layers.{}.ff.experts.down_bias",
}
HF, HF_TIED = llama.llama_names(False, ROWS), llama.llama_names(True, ROWS)
HF_HEADS = {
    "GptOssModel": None, "GptOssForCausalLM": "causal_lm", "GptOssForSequenceClassification": "sequence_classification",
    "GptOssForTokenClassification": "token_classification",
}  # fmt: skip
HF_FIELDS = {
    **{published: local for published, local in mixtral.HF_FIELDS.items() if local != "activation"},
    "attention_bias": "attn_bias", "layer_types": "layer_types", "swiglu_alpha": "gate_slope",
    "swiglu_limit": "gate_limit",
}  # fmt: skip
HF_FIXED: dict[str, Any] = {"mlp_bias": False}
HF_UNUSED = llama.HF_UNUSED | {"hidden_act", "initial_context_length", "experts_per_token"}
to_hf_fields = write_rope


def from_hf_fields(config_dict: dict[str, Any]) -> dict[str, Any]:
    """A file without rotary settings means YaRN."""
    silent = not config_dict.get("rope_parameters") and not config_dict.get("rope_scaling")
    return read_rope({**config_dict, "rope_scaling": YARN} if silent else config_dict)


HF_DEFAULTS = {
    "bos_token_id": None,
    "eos_token_id": None,
    "pad_token_id": None,
}  # transformers' defaults, for fields that a file omits
