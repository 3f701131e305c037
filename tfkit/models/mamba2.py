"""Mamba-2 (Dao and Gu 2024, arXiv:2405.21060): a state-space language model, without attention.

Parent   llama (by idea)
Differs  no attention: each head holds a state of fixed size, which decays by a factor that depends on the token,
         and to which the token is added; no positions, and a cache that does not grow; a short convolution before it;
         no feed-forward network: all layers are of one gated kind
Trained  objectives.causal_lm
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ..namemap import NameMap
from ..nn.feed_forward import get_activation
from ..nn.rms_norm import RMSNorm, rms_normalize
from ..nn.state_space import StateCache, state_space_scan
from ..objectives.cross_entropy import cross_entropy, next_labels, word_scores
from ._base import Model, configuration, to_padding_mask
from ._checks import check_ids, embed_ids
from ._output import Output


@configuration
class Config:
    vocab_size: int = 32768
    d_model: int = 4096
    n_layers: int = 64
    n_heads: int = 128
    d_head: int = 64
    d_state: int = 128
    n_groups: int = 8  # groups of heads that share B and C
    expand: int = 2  # n_heads · d_head / d_model
    kernel: int = 4  # the width of the convolution in tokens
    bias: bool = False
    conv_bias: bool = True
    activation: str = "silu"
    step_min: float = 0.001  # initial weights: step sizes are drawn between the two
    step_max: float = 0.1
    step_floor: float = 1e-4
    step_limit: list[Any] | tuple[Any, ...] = (0.0, float("inf"))
    chunk: int = 256  # tokens that are computed in parallel
    wide_residual: bool = True  # whether the residual stream is float32 even if the weights are not
    eps: float = 1e-5
    tie_word_embeddings: bool = False
    init_std: float = 0.1
    bos_token_id: int | None = 0
    eos_token_id: int | list[int] | None = 2
    pad_token_id: int | None = 1


SMALL: dict[str, Any] = {
    "vocab_size": 50288, "n_groups": 1, "tie_word_embeddings": True, "eos_token_id": 0, "pad_token_id": 0,
}  # fmt: skip
PRESETS: dict[str, dict[str, Any]] = {
    "mamba-codestral-7b": {},
    "mamba2-130m": {**SMALL, "d_model": 768, "n_layers": 24, "n_heads": 24},
    "mamba2-370m": {**SMALL, "d_model": 1024, "n_layers": 48, "n_heads": 32},
    "mamba2-780m": {**SMALL, "d_model": 1536, "n_layers": 48, "n_heads": 48},
    "mamba2-1.3b": {**SMALL, "d_model": 2048, "n_layers": 48, "n_heads": 64},
    "mamba2-2.7b": {**SMALL, "d_model": 2560, "n_layers": 64, "n_heads": 80},
}


class GatedNorm(nn.Module):
    """RMSNorm of x · SiLU(gate), over each group of columns separately. Parameter weight [width]."""

    def __init__(self, width: int, groups: int, eps: float) -> None:
        super().__init__()
        self.groups, self.eps = groups, eps
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x: Tensor, gate: Tensor) -> Tensor:
        """x, float32 or wider, and gate [B,L,W] -> [B,L,W], of the gate's dtype"""
        x = (x * F.silu(gate.to(x.dtype))).unflatten(-1, (self.groups, -1))
        return self.weight * rms_normalize(x, x.shape[-1:], eps=self.eps).flatten(-2).to(gate.dtype)


class Mixer(nn.Module):
    """The layer that replaces attention.

    Submodules in_proj, whose rows are [gate | input, B and C | step], conv: depthwise nn.Conv1d, norm, out_proj.
    Parameters decay_log, skip, step_bias [H]. Raises ValueError for widths that do not fit.
    """

    def __init__(self, c: Config) -> None:
        super().__init__()
        width = c.n_heads * c.d_head
        if width != c.expand * c.d_model:
            raise ValueError(f"n_heads · d_head is {width}, expand · d_model is {c.expand * c.d_model}: must be equal")
        if c.n_heads % c.n_groups:
            raise ValueError(f"n_groups={c.n_groups} does not divide n_heads={c.n_heads}")
        self.config = c
        self.widths = [width, c.n_groups * c.d_state, c.n_groups * c.d_state]  # of input, B and C
        mixed = sum(self.widths)
        self.activation = get_activation(c.activation)
        self.in_proj = nn.Linear(c.d_model, width + mixed + c.n_heads, bias=c.bias)
        self.conv = nn.Conv1d(mixed, mixed, c.kernel, groups=mixed, bias=c.conv_bias)
        self.decay_log = nn.Parameter(torch.arange(1.0, c.n_heads + 1).log())
        self.skip = nn.Parameter(torch.ones(c.n_heads))
        self.step_bias = nn.Parameter(initial_dt(c))
        self.norm = GatedNorm(width, c.n_groups, c.eps)
        self.out_proj = nn.Linear(width, c.d_model, bias=c.bias)

    def start_of(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """The initial state before any token: zeros, in the form that `StateCache` holds for a module."""
        c, wide = self.config, torch.promote_types(x.dtype, torch.float32)
        state = x.new_zeros(x.size(0), c.n_heads, c.d_head, c.d_state, dtype=wide)
        return x.new_zeros(x.size(0), sum(self.widths), c.kernel - 1), state

    def forward(self, x: Tensor, non_padding: Tensor | None, cache: StateCache | None) -> Tensor:
        """x [B,L,E] the new positions, non_padding [B,L,1], zero at padding, or None -> [B,L,E]"""
        x = x if non_padding is None else x * non_padding
        gate, mixed, step = self.in_proj(x).split([self.widths[0], sum(self.widths), self.config.n_heads], dim=-1)
        before, state = self.start_of(x) if cache is None or self not in cache.states else cache.states[self]
        inputs = torch.cat([before, mixed.transpose(1, 2)], dim=-1)  # [B,C,K-1+L]
        mixed = self.activation(self.conv(inputs)).transpose(1, 2)  # [B,L,C]
        mixed = mixed if non_padding is None else mixed * non_padding
        out, state = self.scan(mixed, step, state)
        if cache is not None:
            cache.update(self, inputs[..., inputs.size(-1) - before.size(-1) :], state)
        return self.out_proj(self.norm(out, gate))

    def scan(self, mixed: Tensor, step: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        """mixed [B,L,C], step [B,L,H], state [B,H,P,N] -> [B,L,W], the last state; float32 or wider"""
        c = self.config
        step = F.softplus(step + self.step_bias).clamp(*c.step_limit).to(state.dtype)
        x, b, read = (part.to(state.dtype) for part in mixed.split(self.widths, dim=-1))
        x = x.unflatten(-1, (c.n_heads, -1))  # [B,L,H,P]
        each = c.n_heads // c.n_groups
        b, read = (part.unflatten(-1, (c.n_groups, -1)).repeat_interleave(each, dim=2) for part in (b, read))
        log_decay = -self.decay_log.to(state.dtype).exp() * step
        out, state = state_space_scan(x * step[..., None], log_decay, b, read, state, c.chunk)
        return (out + self.skip[:, None] * x).flatten(-2), state


def initial_dt(c: Config) -> Tensor:
    """A bias [H] whose softplus gives steps between the smallest and the largest, log-uniformly distributed."""
    low, high = math.log(c.step_min), math.log(c.step_max)
    step = (torch.rand(c.n_heads) * (high - low) + low).exp().clamp(min=c.step_floor)
    return step + (-torch.expm1(-step)).log()


class Layer(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.norm, self.mixer, self.wide = RMSNorm(c.d_model, c.eps), Mixer(c), c.wide_residual

    def forward(self, x: Tensor, non_padding: Tensor | None, cache: StateCache | None) -> Tensor:
        """[B,L,E] -> [B,L,E]"""
        mixed = self.mixer(self.norm(x.to(self.norm.weight.dtype)), non_padding, cache)
        return (x.to(torch.promote_types(x.dtype, torch.float32)) if self.wide else x) + mixed


class Mamba2(Model):
    HEADS = (None, "causal_lm")
    MASKS_PROMPT_ONLY = True  # padding does not change the states

    def __init__(self, config: Config, head: str | None = None) -> None:
        super().__init__(config, head)
        self.embed = nn.Embedding(config.vocab_size, config.d_model)
        self.layers = nn.ModuleList(Layer(config) for _ in range(config.n_layers))
        self.norm = RMSNorm(config.d_model, config.eps)
        if head and not config.tie_word_embeddings:
            self.lm_head = nn.Linear(config.d_model, config.vocab_size, bias=False)
        self.apply(self.init_weights)

    def hook_states(self, note: Callable[[Tensor], None]) -> list[Any]:
        """Handles of hooks that record the output of each layer, and of the last norm; not the embeddings."""
        parts = (*self.layers, self.norm)
        return [part.register_forward_hook(lambda _part, _args, out: note(out)) for part in parts]

    def fixed_cache(self, capacity: int, non_padding: Tensor | None) -> StateCache:
        """Its cache, which does not grow."""
        return StateCache()

    @property
    def names(self) -> NameMap:
        """The map of tensor names; a tied model's file may hold its matrix twice."""
        return HF_TIED if self.config.tie_word_embeddings else HF

    def init_weights(self, module: nn.Module) -> None:
        """Initialises the weights: normal; a mixer's convolution and output projection uniform by their width."""
        if isinstance(module, (nn.Linear, nn.Embedding)):
            nn.init.normal_(module.weight, std=self.config.init_std)
        if isinstance(module, Mixer):
            for part in (module.conv, module.out_proj):
                nn.init.kaiming_uniform_(part.weight, a=math.sqrt(5))
        if isinstance(module, (nn.Linear, nn.Conv1d)) and module.bias is not None:
            nn.init.zeros_(module.bias)

    def forward(
        self,
        input_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        labels: Tensor | None = None,
        *,
        cache: StateCache | None = None,
        use_cache: bool = False,
        logits_to_keep: int = 0,
    ) -> Output:
        """input_ids [B,L], labels [B,L] (shifted inside; -100: not counted) -> Output: loss, logits [B,L,V],
        last_hidden_state [B,L,E], cache. With a cache, input_ids are the new ones only and attention_mask covers all;
        padding does not change the states. Raises ValueError or TypeError for invalid inputs."""
        self.require_head(labels)
        ids = check_ids("input_ids", input_ids)
        cache = StateCache() if use_cache and cache is None else cache
        self.check_cache(cache, ids.size(0))
        x = embed_ids(self.embed, ids, "input_ids")
        mask = None if attention_mask is None else self.new_non_padding(attention_mask, ids, cache, x.dtype)
        for layer in self.layers:
            x = layer(x, mask, cache)
        x = self.norm(x).to(self.embed.weight.dtype)
        if cache is not None and not torch.compiler.is_compiling():
            cache.advance_length(ids.size(1))
        logits = loss = None
        if self.head:
            table = self.embed.weight if self.config.tie_word_embeddings else self.lm_head.weight
            logits = word_scores(x[:, -logits_to_keep:], table)
            loss = None if labels is None else cross_entropy(logits, next_labels(labels))
        return Output(loss=loss, logits=logits, last_hidden_state=x, cache=cache)

    def new_non_padding(
        self, attention_mask: Tensor, ids: Tensor, cache: StateCache | None, dtype: torch.dtype
    ) -> Tensor | None:
        """The mask of the new ids [B,L], from that of all tokens -> [B,L,1], zero at padding; None if there is none"""
        past = 0 if cache is None else cache.length
        non_padding = to_padding_mask("attention_mask", attention_mask, (ids.size(0), past + ids.size(1)))
        return None if non_padding is None else non_padding[:, past:, None].to(dtype)

    def check_cache(self, cache: Any, rows: int) -> None:
        """Raises TypeError for a key-value cache, ValueError for one with another number of rows."""
        if cache is None:
            return
        if not isinstance(cache, StateCache):
            raise TypeError(f"cache is a {type(cache).__name__}: Mamba-2 has no keys, its cache is a StateCache")
        cache.check_rows(rows)


MODEL = Mamba2


def _names(tied: bool) -> NameMap:
    return NameMap(
        {
            "embeddings": "embed",
            "layers.{}.norm": "layers.{}.norm",
            "layers.{}.mixer.in_proj": "layers.{}.mixer.in_proj",
            "layers.{}.mixer.conv1d": "layers.{}.mixer.conv",
            "layers.{}.mixer.A_log": "layers.{}.mixer.decay_log",
            "layers.{}.mixer.D": "layers.{}.mixer.skip",
            "layers.{}.mixer.dt_bias": "layers.{}.mixer.step_bias",
            "layers.{}.mixer.norm": "layers.{}.mixer.norm",
            "layers.{}.mixer.out_proj": "layers.{}.mixer.out_proj",
            "norm_f": "norm",
        },
        prefix="backbone.",
        heads={"lm_head": "lm_head"},
        tied={"lm_head.weight": "embeddings.weight"} if tied else {},
    )


HF, HF_TIED = _names(False), _names(True)
HF_HEADS = {"Mamba2Model": None, "Mamba2ForCausalLM": "causal_lm"}
HF_FIELDS = {
    "vocab_size": "vocab_size", "hidden_size": "d_model", "num_hidden_layers": "n_layers", "num_heads": "n_heads",
    "head_dim": "d_head", "state_size": "d_state", "n_groups": "n_groups", "expand": "expand", "conv_kernel": "kernel",
    "use_bias": "bias", "use_conv_bias": "conv_bias", "hidden_act": "activation", "time_step_min": "step_min",
    "time_step_max": "step_max", "time_step_floor": "step_floor", "time_step_limit": "step_limit",
    "chunk_size": "chunk", "residual_in_fp32": "wide_residual", "layer_norm_epsilon": "eps",
    "tie_word_embeddings": "tie_word_embeddings", "initializer_range": "init_std", "bos_token_id": "bos_token_id",
    "eos_token_id": "eos_token_id", "pad_token_id": "pad_token_id",
}  # fmt: skip
HF_FIXED: dict[str, Any] = {}
HF_UNUSED = {"time_step_rank", "rescale_prenorm_residual", "rms_norm", "norm_before_gate", "intermediate_size"}


def from_hf_fields(config_dict: dict[str, Any]) -> dict[str, Any]:
    """5.x files write infinity in a special form."""
    config_dict = dict(config_dict)
    if "time_step_limit" in config_dict:
        limits = config_dict["time_step_limit"]
        config_dict["time_step_limit"] = [float(x["__float__"] if isinstance(x, dict) else x) for x in limits]
    return config_dict


def to_hf_fields(written: dict[str, Any]) -> dict[str, Any]:
    """The inverse of `from_hf_fields`."""
    limits = [{"__float__": "Infinity"} if math.isinf(x) else x for x in written["time_step_limit"]]
    return {**written, "time_step_limit": limits}
