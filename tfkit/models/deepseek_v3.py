"""DeepSeek-V3 and R1 (DeepSeek-AI 2024, arXiv:2412.19437; multi-head latent attention: arXiv:2405.04434).

Parent   mixtral (by idea)
Differs  keys and values of all heads are computed from one narrow latent, which is cached together with one
         rotary key that the heads share; 256 small experts, chosen in groups by a sigmoid and a bias that
         balances their load, and a shared expert that every token uses; the first three layers are dense
Trained  objectives.causal_lm, and multi-token prediction (whose layers are not implemented)
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ..nn import Cache
from ..nn.attention import attend, merge_heads, split_heads
from ..nn.experts import ExpertList, apply_experts, route_in_groups, stack_experts
from ..nn.feed_forward import GatedFeedForward, get_activation
from ..nn.grouped_query import Rotation
from ..nn.rms_norm import RMSNorm
from ..nn.rope import rotate_halves, yarn_scale
from ..nn.rotary import rotate_pairs
from . import llama
from ._base import TaskConfig, configuration
from ._checks import check_rotary_width
from ._rope import read_rope, write_rope

LATENT_EPS = 1e-6  # of the norms inside attention, independent of `eps`


@configuration
class Config(TaskConfig):
    vocab_size: int = 129280
    d_model: int = 7168
    n_layers: int = 61
    n_heads: int = 128
    d_query_latent: int | None = 1536  # None: queries are computed from x directly
    d_latent: int = 512  # of keys and values
    d_content: int = 128  # of a head's queries and keys, without the rotated part
    d_rotary: int = 64  # the part that is rotated by the position
    d_value: int = 128
    d_ff: int = 18432  # of the layers without experts
    d_expert: int = 2048
    n_dense: int = 3  # the number of bottom layers without experts
    n_experts: int = 256
    n_shared: int = 1  # the width of the shared expert, in multiples of one expert
    experts_per_token: int = 8
    expert_groups: int = 8
    expert_groups_per_token: int = 4
    normalize_weights: bool = True
    routed_scale: float = 2.5
    max_length: int = 4096
    activation: str = "silu"
    attn_bias: bool = False
    attn_dropout: float = 0.0
    head_dropout: float = 0.1  # of token classification
    eps: float = 1e-6
    rope_theta: float = 10000.0
    rope_scaling: dict[str, Any] | None = None
    interleaved: bool = True  # whether neighbouring columns are rotated together
    tie_word_embeddings: bool = False
    init_std: float = 0.02
    bos_token_id: int | None = 0
    eos_token_id: int | list[int] | None = 1
    pad_token_id: int | None = None


YARN = {
    "rope_type": "yarn", "factor": 40.0, "beta_fast": 32.0, "beta_slow": 1.0, "mscale": 1.0, "mscale_all_dim": 1.0,
    "original_max_position_embeddings": 4096,
}  # fmt: skip
PRESETS: dict[str, dict[str, Any]] = {
    "deepseek-v3": {"max_length": 163840, "rope_scaling": YARN},
    "moonlight-16b-a3b": {
        "vocab_size": 163840, "d_model": 2048, "n_layers": 27, "n_heads": 16, "d_query_latent": None, "d_ff": 11264,
        "d_expert": 1408, "n_dense": 1, "n_experts": 64, "n_shared": 2, "experts_per_token": 6, "expert_groups": 1,
        "expert_groups_per_token": 1, "routed_scale": 2.446, "max_length": 8192, "eps": 1e-5, "rope_theta": 50000.0,
        "bos_token_id": 163584, "eos_token_id": 163585,
    },
}  # fmt: skip


class LatentAttention(nn.Module):
    """Multi-head latent attention: x -> a latent of keys and values -> each head's keys and values.

    Submodules q_down, q_norm, q_up, or q_proj in their place; kv_down, whose rows are [latent | rotary key], kv_norm,
    kv_up, whose rows are [key | value] of each head; o_proj.
    """

    def __init__(self, c: Config) -> None:
        super().__init__()
        self.n_heads, self.parts = c.n_heads, [c.d_content, c.d_rotary]
        self.latent, self.values = [c.d_latent, c.d_rotary], [c.d_content, c.d_value]
        self.dropout, self.rotate = c.attn_dropout, rotate_pairs if c.interleaved else rotate_halves
        self.scale = sum(self.parts) ** -0.5
        if c.rope_scaling and c.rope_scaling.get("mscale_all_dim"):
            self.scale *= yarn_scale(c.rope_scaling["factor"], c.rope_scaling["mscale_all_dim"]) ** 2
        queries = c.n_heads * sum(self.parts)
        if c.d_query_latent is None:
            self.q_proj = nn.Linear(c.d_model, queries, bias=False)
        else:
            self.q_down = nn.Linear(c.d_model, c.d_query_latent, bias=c.attn_bias)
            self.q_norm = RMSNorm(c.d_query_latent, LATENT_EPS)
            self.q_up = nn.Linear(c.d_query_latent, queries, bias=False)
        self.kv_down = nn.Linear(c.d_model, sum(self.latent), bias=c.attn_bias)
        self.kv_norm = RMSNorm(c.d_latent, LATENT_EPS)
        self.kv_up = nn.Linear(c.d_latent, c.n_heads * sum(self.values), bias=False)
        self.o_proj = nn.Linear(c.n_heads * c.d_value, c.d_model, bias=c.attn_bias)

    def queries(self, x: Tensor) -> Tensor:
        """x [B,L,E] -> [B,H,L,D], D = d_content + d_rotary, before the rotation"""
        whole = self.q_proj(x) if hasattr(self, "q_proj") else self.q_up(self.q_norm(self.q_down(x)))
        return split_heads(whole, self.n_heads)

    def forward(self, x: Tensor, rotation: Rotation, *, mask: Tensor | None, cache: Cache | None) -> Tensor:
        """x [B,L,E] the new positions, rotation: their cos and sin, mask bool broadcastable to [B,H,L,K] -> [B,L,E].

        A cache holds a latent and a rotary key for each position: [B,1,K,d_latent] and [B,1,K,d_rotary]."""
        content, rotary = self.queries(x).split(self.parts, dim=-1)
        q = torch.cat([content, self.rotate(rotary, *rotation)], dim=-1)
        latent, rotary = self.kv_down(x).split(self.latent, dim=-1)
        latent, rotary = self.kv_norm(latent)[:, None], self.rotate(rotary[:, None], *rotation)  # [B,1,L,·]
        causal = True
        if cache is not None:
            latent, rotary = cache.extend(self, latent, rotary)
            mask, causal = cache.apply_mask(mask, causal, x.size(1), x.device)
        k, v = split_heads(self.kv_up(latent[:, 0]), self.n_heads).split(self.values, dim=-1)  # [B,H,K,·]
        k = torch.cat([k, rotary.expand(-1, self.n_heads, -1, -1)], dim=-1)
        dropout = self.dropout if self.training else 0.0
        return self.o_proj(merge_heads(attend(q, k, v, mask=mask, causal=causal, scale=self.scale, dropout=dropout)))


class SharedAndRouted(nn.Module):
    """Submodules router: nn.Linear(E, N) without bias, experts: N networks, shared: one that every token uses.

    Buffer balance [N]: added to the scores for choosing experts only; training moves it against the load, without a
    gradient. Raises ValueError for invalid numbers of groups or experts.
    """

    def __init__(self, c: Config) -> None:
        super().__init__()
        size, rest = divmod(c.n_experts, c.expert_groups)
        if rest or size < 2 or not 1 <= c.expert_groups_per_token <= c.expert_groups:
            raise ValueError(
                f"expert_groups={c.expert_groups} must divide n_experts={c.n_experts} into groups of at least two, of "
                f"which a token uses at least one (expert_groups_per_token={c.expert_groups_per_token})"
            )
        if not 1 <= c.experts_per_token <= size * c.expert_groups_per_token:
            raise ValueError(f"experts_per_token={c.experts_per_token}: the groups of a token have too few experts")
        activation_name = get_activation(c.activation)
        self.k, self.scale, self.normalize = c.experts_per_token, c.routed_scale, c.normalize_weights
        self.groups = {"groups": c.expert_groups, "groups_kept": c.expert_groups_per_token}
        self.router = nn.Linear(c.d_model, c.n_experts, bias=False)
        self.register_buffer("balance", torch.zeros(c.n_experts))
        self.experts = ExpertList(GatedFeedForward(c.d_model, c.d_expert, activation_name) for _ in range(c.n_experts))
        self.shared = GatedFeedForward(c.d_model, c.n_shared * c.d_expert, activation_name)

    balance: Tensor

    def forward(self, x: Tensor) -> Tensor:
        """x [B,L,E] -> [B,L,E]"""
        flat = x.flatten(0, 1)  # [T,E]
        wide = torch.promote_types(x.dtype, torch.float32)  # rounding must not change the choice between similar scores
        logits = F.linear(flat.to(wide), self.router.weight.to(wide))
        weights, chosen = route_in_groups(
            logits, self.balance, self.k, **self.groups, normalize=self.normalize, scale=self.scale
        )
        return apply_experts(self.experts, x, weights, chosen) + self.shared(x)


class Layer(llama.Layer):
    def attention(self, c: Config, index: int) -> nn.Module:
        return LatentAttention(c)

    def feed_forward(self, c: Config, index: int) -> nn.Module:
        if index < c.n_dense:
            return GatedFeedForward(c.d_model, c.d_ff, get_activation(c.activation))
        return SharedAndRouted(c)


class DeepSeekV3(llama.Llama):
    HEAD_CLASSES = llama.CLASSIFICATION_HEADS
    HEADS = (None, "causal_lm", *HEAD_CLASSES)
    LAYER = Layer

    def rotary_width(self) -> int:
        return self.config.d_rotary

    def check_rotation(self) -> None:
        check_rotary_width("d_rotary", self.config.d_rotary, self.rotary_width())

    def prepare_steps(self) -> bool:
        return stack_experts(self)


MODEL = DeepSeekV3
ROWS = {
    **{f"layers.{{}}.self_attn.{x}_proj": None for x in "kv"},
    "layers.{}.self_attn.q_a_proj": "layers.{}.attn.q_down",
    "layers.{}.self_attn.q_a_layernorm": "layers.{}.attn.q_norm",
    "layers.{}.self_attn.q_b_proj": "layers.{}.attn.q_up",
    "layers.{}.self_attn.kv_a_proj_with_mqa": "layers.{}.attn.kv_down",
    "layers.{}.self_attn.kv_a_layernorm": "layers.{}.attn.kv_norm",
    "layers.{}.self_attn.kv_b_proj": "layers.{}.attn.kv_up",
    "layers.{}.mlp.gate": "layers.{}.ff.router",
    "layers.{}.mlp.gate.e_score_correction_bias": "layers.{}.ff.balance",
    **{f"layers.{{}}.mlp.experts.{{}}.{x}_proj": f"layers.{{}}.ff.experts.{{}}.{x}" for x in ("gate", "up", "down")},
    **{f"layers.{{}}.mlp.shared_experts.{x}_proj": f"layers.{{}}.ff.shared.{x}" for x in ("gate", "up", "down")},
}
LATER = [r"layers\.61\..+"]  # in the published file: the layers that predict the token after the next
HF, HF_TIED = llama.llama_names(False, ROWS, LATER), llama.llama_names(True, ROWS, LATER)
HF_HEADS = {
    "DeepseekV3Model": None, "DeepseekV3ForCausalLM": "causal_lm",
    "DeepseekV3ForSequenceClassification": "sequence_classification",
    "DeepseekV3ForTokenClassification": "token_classification",
}  # fmt: skip
NOT_HERE = ("n_kv_heads", "d_head", "ff_bias")
HF_FIELDS = {
    **{published: local for published, local in llama.HF_FIELDS.items() if local not in NOT_HERE},
    "q_lora_rank": "d_query_latent", "kv_lora_rank": "d_latent", "qk_nope_head_dim": "d_content",
    "qk_rope_head_dim": "d_rotary", "v_head_dim": "d_value", "moe_intermediate_size": "d_expert",
    "first_k_dense_replace": "n_dense", "n_routed_experts": "n_experts", "n_shared_experts": "n_shared",
    "num_experts_per_tok": "experts_per_token", "n_group": "expert_groups", "topk_group": "expert_groups_per_token",
    "norm_topk_prob": "normalize_weights", "routed_scaling_factor": "routed_scale", "rope_interleave": "interleaved",
}  # fmt: skip
HF_FIXED = {
    "output_router_logits": False,
    "scoring_func": "sigmoid",
    "topk_method": "noaux_tc",
    "moe_layer_freq": 1,
    "mlp_bias": False,
}
HF_UNUSED = llama.HF_UNUSED | {
    "num_key_value_heads", "head_dim", "qk_head_dim", "num_nextn_predict_layers", "num_mtp_layers", "ep_size",
    "aux_loss_alpha", "seq_aux", "auto_map",
}  # fmt: skip


def from_hf_fields(config_dict: dict[str, Any]) -> dict[str, Any]:
    """As of other models. Raises ValueError unless head_dim, which transformers rotates, is the rotated width."""
    rotated = config_dict.get("qk_rope_head_dim", Config().d_rotary)
    if config_dict.get("head_dim") not in (None, rotated):
        raise ValueError(
            f"head_dim is {config_dict['head_dim']!r}; only the value of qk_rope_head_dim, {rotated!r}, is implemented"
        )
    return read_rope(config_dict)


def to_hf_fields(written: dict[str, Any]) -> dict[str, Any]:
    """transformers' class needs the number of key heads, which equals that of the heads."""
    return write_rope({**written, "num_key_value_heads": written["num_attention_heads"]})
