"""Qwen3-Next (Qwen team 2025, https://huggingface.co/Qwen/Qwen3-Next-80B-A3B-Instruct; the gated DeltaNet: Yang et al.
2024, arXiv:2412.06464).

Parent   qwen3_moe (by idea)
Differs  three layers in four have no attention: in each head a matrix of fixed size maps keys to values, decays, and is
         corrected where it has another value for a token's key; so a cache grows in every fourth layer only. Attention
         rotates a quarter of each head's columns, and a gate decides how much of each output passes (Qiu et al. 2025,
         arXiv:2505.06708). Beside the chosen experts every token has a shared one, behind a gate; norms' weights are
         stored as offsets from 1
Trained  objectives.causal_lm, and a loss that balances the load of the experts (nn.load_balancing_loss)
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ..nn import Cache
from ..nn.attention import merge_heads, split_heads
from ..nn.cache import LeftPaddedCache
from ..nn.delta_rule import gated_delta_rule, unit_length
from ..nn.experts import MixtureOfExperts, stack_experts
from ..nn.feed_forward import GatedFeedForward, get_activation
from ..nn.grouped_query import GroupedQueryAttention, Rotation
from ..nn.rms_norm import RMSNorm, UnitOffsetRMSNorm
from ..nn.state_space import HybridCache, LeftPaddedHybridCache, StatesAndKeys, StaticHybridCache
from . import llama, mixtral, qwen3_moe
from ._base import configuration
from ._rope import read_rope, write_rope
from .llama import FULL, Past
from .qwen3_moe import has_experts

LINEAR = "linear_attention"


@configuration
class Config(llama.Config):
    vocab_size: int = 151936
    d_model: int = 2048
    n_layers: int = 48
    n_heads: int = 16
    n_kv_heads: int | None = 2
    d_head: int | None = 256
    rotary_fraction: float = 0.25  # of a head's columns
    attention_interval: int = 4  # the last of each so many layers has attention
    layer_types: list[Any] | tuple[Any, ...] | None = None  # of each layer; overrides attention_interval
    n_key_heads: int = 16  # of the layers without attention; each has the queries and keys of some value heads
    n_value_heads: int = 32
    d_key: int = 128
    d_value: int = 128
    kernel: int = 4  # the width of the convolution in tokens
    d_ff: int = 5120  # of layers without experts
    d_expert: int = 512
    d_shared: int = 512  # of the expert that every token has
    n_experts: int = 512
    experts_per_token: int = 10
    normalize_weights: bool = True  # whether the weights of a token's experts sum to 1
    expert_interval: int = 1  # the last of each so many layers has experts
    dense_layers: list[Any] | tuple[Any, ...] = ()  # numbers of further layers without experts
    router_logits: bool = False  # whether they are returned, with the load balancing loss added to the loss
    balance_weight: float = 0.001
    max_length: int = 262144
    rope_theta: float = 1e7
    bos_token_id: int | None = 151643
    eos_token_id: int | list[int] | None = 151645


PRESETS: dict[str, dict[str, Any]] = {"qwen3-next-80b-a3b": {}}


def layer_types(c: Config) -> list[str]:
    """What each layer has."""
    if c.layer_types is not None:
        return list(c.layer_types)
    return [LINEAR if (index + 1) % c.attention_interval else FULL for index in range(c.n_layers)]


class GatedAttention(GroupedQueryAttention):
    """Attention whose output, before o_proj, is multiplied by the sigmoid of a gate, which x decides.

    The rows of q_proj are [query | gate] of each head. Submodules q_norm, k_norm: for each head's queries and keys.
    """

    def __init__(self, c: Config) -> None:
        how: dict[str, Any] = {"bias": c.attn_bias, "out_bias": c.attn_bias, "dropout": c.attn_dropout}
        super().__init__(c.d_model, c.n_heads, c.n_kv_heads, d_head=c.d_head, **how)
        self.q_norm, self.k_norm = UnitOffsetRMSNorm(self.d_head, c.eps), UnitOffsetRMSNorm(self.d_head, c.eps)

    def add_projections(self, d_model: int, bias: bool) -> None:
        super().add_projections(d_model, bias)
        self.q_proj = nn.Linear(d_model, 2 * self.n_heads * self.d_head, bias=bias)

    def forward(
        self,
        x: Tensor,
        rotation: Rotation | None = None,
        *,
        mask: Tensor | None = None,
        bias: Tensor | None = None,
        cache: Cache | None = None,
    ) -> Tensor:
        """As the parent's: x [B,L,E] -> [B,L,E]"""
        q, gate = split_heads(self.q_proj(x), self.n_heads).chunk(2, dim=-1)  # [B,H,L,D]
        k, v = (split_heads(project(x), self.n_kv_heads) for project in (self.k_proj, self.v_proj))
        how: dict[str, Any] = {"mask": mask, "bias": bias, "cache": cache}
        out = self.attend_rotated(self.q_norm(q), self.k_norm(k), v, rotation, **how)
        return self.o_proj(merge_heads(out) * merge_heads(gate).sigmoid())


class GatedDeltaNet(nn.Module):
    """What most layers have in place of attention; N value heads, of which N / M share the query and key of one of M.

    Submodules in_proj, whose rows are [query | key | values | gates] of each key head, rates_proj, whose rows are [beta
    | step] of each key head; conv: depthwise nn.Conv1d over all queries, then keys, then values; norm: of each value
    head, out_proj. Parameters decay_log, step_bias [N]. Raises ValueError if the value heads cannot be shared out.
    """

    def __init__(self, c: Config) -> None:
        super().__init__()
        if c.n_value_heads % c.n_key_heads:
            raise ValueError(f"n_key_heads={c.n_key_heads} does not divide n_value_heads={c.n_value_heads}")
        self.config, keys, values = c, c.n_key_heads * c.d_key, c.n_value_heads * c.d_value
        self.widths = [keys, keys, values]
        mixed = sum(self.widths)
        self.activation = get_activation(c.activation)
        self.in_proj = nn.Linear(c.d_model, mixed + values, bias=False)
        self.rates_proj = nn.Linear(c.d_model, 2 * c.n_value_heads, bias=False)
        self.conv = nn.Conv1d(mixed, mixed, c.kernel, groups=mixed, bias=False)
        self.decay_log = nn.Parameter(torch.empty(c.n_value_heads).uniform_(0.01, 16).log())
        self.step_bias = nn.Parameter(torch.ones(c.n_value_heads))
        self.norm = RMSNorm(c.d_value, c.eps)
        self.out_proj = nn.Linear(values, c.d_model, bias=False)

    def start_of(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """What a `StateCache` holds before any token: zeros."""
        c, wide = self.config, torch.promote_types(x.dtype, torch.float32)
        state = x.new_zeros(x.size(0), c.n_value_heads, c.d_key, c.d_value, dtype=wide)
        return x.new_zeros(x.size(0), sum(self.widths), c.kernel - 1), state

    def forward(
        self,
        x: Tensor,
        rotation: Rotation | None = None,
        *,
        mask: Tensor | None = None,
        cache: StatesAndKeys | None = None,
    ) -> Tensor:
        """x [B,L,E] the new positions; rotation: None, as the recurrence knows the order; mask bool [B,L], False at
        padding, or None -> [B,L,E]"""
        x = x if mask is None else x * mask[..., None]
        mixed, gate, beta, step = self.project(x)
        held = None if cache is None else cache.recurrent.states.get(self)
        before, state = self.start_of(x) if held is None else held
        inputs = torch.cat([before, mixed.transpose(1, 2)], dim=-1)  # [B,·,kernel-1+L]
        out, state = self.scan(self.activation(self.conv(inputs)).transpose(1, 2), beta, step, state)
        if cache is not None:
            cache.recurrent.update(self, inputs[..., inputs.size(-1) - before.size(-1) :], state)
        gated = self.norm(out.to(x.dtype)) * F.silu(gate.to(state.dtype))  # [B,L,N,V]
        return self.out_proj(gated.to(x.dtype).flatten(-2))

    def project(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """x [B,L,E] -> queries, keys and values of all heads, one after the other [B,L,·], gate [B,L,N,V], beta and
        step [B,L,N], before their activations"""
        c = self.config
        values = self.widths[2] // c.n_key_heads  # of one key head
        own = self.in_proj(x).unflatten(-1, (c.n_key_heads, -1))  # [B,L,M,·]
        *mixed, gate = own.split([c.d_key, c.d_key, values, values], dim=-1)
        beta, step = self.rates_proj(x).unflatten(-1, (c.n_key_heads, -1)).chunk(2, dim=-1)  # [B,L,M,N/M]
        gate = gate.flatten(-2).unflatten(-1, (c.n_value_heads, -1))
        return torch.cat([part.flatten(-2) for part in mixed], dim=-1), gate, beta.flatten(-2), step.flatten(-2)

    def scan(self, mixed: Tensor, beta: Tensor, step: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        """mixed [B,L,·], beta and step [B,L,N], state [B,N,K,V] -> [B,L,N,V], the last state; float32 or wider"""
        c, wide = self.config, state.dtype
        q, k, v = mixed.to(wide).split(self.widths, dim=-1)
        q, k = (unit_length(part.unflatten(-1, (c.n_key_heads, -1))) for part in (q, k))
        q, k = (part.repeat_interleave(c.n_value_heads // c.n_key_heads, dim=2) for part in (q, k))  # [B,L,N,K]
        log_decay = -self.decay_log.to(wide).exp() * F.softplus(step.to(wide) + self.step_bias)
        v = v.unflatten(-1, (c.n_value_heads, -1))
        return gated_delta_rule(q * c.d_key**-0.5, k, v, log_decay, beta.sigmoid().to(wide), state)


class SharedAndRouted(MixtureOfExperts):
    """Submodules, beside the parent's: shared, an expert that every token has, shared_gate: nn.Linear(E, 1)."""

    def __init__(self, c: Config) -> None:
        activation = get_activation(c.activation)
        experts = [GatedFeedForward(c.d_model, c.d_expert, activation) for _ in range(c.n_experts)]
        super().__init__(c.d_model, experts, c.experts_per_token, c.normalize_weights)
        self.shared = GatedFeedForward(c.d_model, c.d_shared, activation)
        self.shared_gate = nn.Linear(c.d_model, 1, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """x [B,L,E] -> [B,L,E]"""
        return super().forward(x) + self.shared_gate(x).sigmoid() * self.shared(x)


class Layer(llama.Layer):
    def norm(self, c: Config) -> nn.Module:
        return UnitOffsetRMSNorm(c.d_model, c.eps)

    def attention(self, c: Config, index: int) -> nn.Module:
        return GatedAttention(c) if layer_types(c)[index] == FULL else GatedDeltaNet(c)

    def feed_forward(self, c: Config, index: int) -> nn.Module:
        if has_experts(c, index):
            return SharedAndRouted(c)
        return GatedFeedForward(c.d_model, c.d_ff, get_activation(c.activation))


class Qwen3Next(llama.Llama):
    LAYER = Layer
    LAYER_KINDS = (FULL, LINEAR)
    forward = mixtral.routed_forward

    def layer_types(self) -> list[str]:
        return layer_types(self.config)

    def init_weights(self, module: nn.Module) -> None:
        super().init_weights(module)
        if isinstance(module, nn.Conv1d):
            nn.init.normal_(module.weight, std=self.config.init_std)

    def prepare_steps(self) -> bool:
        return stack_experts(self)

    def rotation(self, kind: str, positions: Tensor, length: int, dtype: torch.dtype) -> Rotation | None:
        return None if kind == LINEAR else super().rotation(kind, positions, length, dtype)

    def layer_masks(self, mask: Tensor | None, positions: Tensor, keys: int, cache: Cache | None) -> dict[str, Any]:
        """As the parent's; layers without attention are told which of the new tokens are padding, bool [B,L]."""
        masks = super().layer_masks(mask, positions, keys, cache)
        if isinstance(cache, LeftPaddedCache):
            masks[LINEAR] = cache.non_padding[:, positions]
        else:
            masks[LINEAR] = None if mask is None else mask[:, 0, 0, -len(positions) :]
        return masks

    def hidden(self, x: Tensor, positions: Tensor, mask: Tensor | None, cache: Cache | None, past: Past) -> Tensor:
        self.check_cache(cache, x.size(0))
        out = super().hidden(x, positions, mask, cache, past)
        if isinstance(cache, HybridCache | StaticHybridCache) and not cache.self_attention:  # nothing has counted them
            cache.advance(x.size(1), x.device)
        return out

    def growing_cache(self) -> Cache:
        return HybridCache()

    def fixed_cache(self, capacity: int, non_padding: Tensor | None) -> StaticHybridCache:
        """As the parent's, with room for the states."""
        return StaticHybridCache(capacity) if non_padding is None else LeftPaddedHybridCache(capacity, non_padding)

    def check_cache(self, cache: Cache | None, rows: int) -> None:
        """Raises TypeError for a cache without room for states, ValueError for one with another number of rows."""
        if cache is None:
            return
        if not isinstance(cache, StatesAndKeys):
            raise TypeError(
                f"cache is a {type(cache).__name__}, which has no room for the states: leave it out with "
                "use_cache=True, or give model.fixed_cache(capacity, None)"
            )
        cache.recurrent.check_rows(rows)


MODEL = Qwen3Next
ROWS = {
    **qwen3_moe.ROWS,
    "layers.{}.linear_attn.in_proj_qkvz": "layers.{}.attn.in_proj",
    "layers.{}.linear_attn.in_proj_ba": "layers.{}.attn.rates_proj",
    "layers.{}.linear_attn.conv1d": "layers.{}.attn.conv",
    "layers.{}.linear_attn.A_log": "layers.{}.attn.decay_log",
    "layers.{}.linear_attn.dt_bias": "layers.{}.attn.step_bias",
    "layers.{}.linear_attn.norm": "layers.{}.attn.norm",
    "layers.{}.linear_attn.out_proj": "layers.{}.attn.out_proj",
    **{f"layers.{{}}.mlp.shared_expert.{x}_proj": f"layers.{{}}.ff.shared.{x}" for x in ("gate", "up", "down")},
    "layers.{}.mlp.shared_expert_gate": "layers.{}.ff.shared_gate",
}
LATER = [r"mtp\..+"]  # in the published file: the layers that predict the token after the next
HF, HF_TIED = llama.llama_names(False, ROWS, LATER), llama.llama_names(True, ROWS, LATER)
HF_HEADS = {
    "Qwen3NextModel": None, "Qwen3NextForCausalLM": "causal_lm",
    "Qwen3NextForSequenceClassification": "sequence_classification",
    "Qwen3NextForTokenClassification": "token_classification", "Qwen3NextForQuestionAnswering": "question_answering",
}  # fmt: skip
HF_FIELDS = {
    **{published: local for published, local in qwen3_moe.HF_FIELDS.items() if local != "window"},
    "partial_rotary_factor": "rotary_fraction", "full_attention_interval": "attention_interval",
    "layer_types": "layer_types", "linear_num_key_heads": "n_key_heads", "linear_num_value_heads": "n_value_heads",
    "linear_key_head_dim": "d_key", "linear_value_head_dim": "d_value", "linear_conv_kernel_dim": "kernel",
    "shared_expert_intermediate_size": "d_shared",
}  # fmt: skip
HF_FIXED = qwen3_moe.HF_FIXED
HF_UNUSED = qwen3_moe.HF_UNUSED | {"sliding_window"}
HF_DEFAULTS = {  # transformers' defaults, for fields that a file omits
    "d_ff": 5632, "max_length": 32768, "rope_theta": 10000.0, "bos_token_id": None, "eos_token_id": None,
}  # fmt: skip


def from_hf_fields(config_dict: dict[str, Any]) -> dict[str, Any]:
    """As of other models; no list of layers without experts means an empty one."""
    config_dict = read_rope(config_dict)
    if config_dict.get("mlp_only_layers", ()) is None:
        config_dict["mlp_only_layers"] = []
    return config_dict


to_hf_fields = write_rope
