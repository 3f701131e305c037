"""Mixtral 8x7B (Jiang et al. 2024, arXiv:2401.04088).

Parent   llama
Differs  eight feed-forward networks in each layer, the experts, of which a router chooses two for each token: 47
         billion parameters, of which a token uses 13 billion
Trained  objectives.causal_lm, and a loss that balances the load of the experts (nn.load_balancing_loss)
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from ..nn import Cache
from ..nn.experts import MixtureOfExperts, load_balancing_loss, stack_experts
from ..nn.feed_forward import GatedFeedForward, get_activation
from . import llama
from ._base import configuration
from ._output import Output
from ._rope import read_rope, write_rope


@configuration
class Config(llama.Config):
    n_kv_heads: int | None = 8
    d_ff: int = 14336
    max_length: int = 32768
    eps: float = 1e-5
    rope_theta: float = 1e6
    window: int | None = None
    n_experts: int = 8
    experts_per_token: int = 2
    router_logits: bool = False  # whether they are returned, with the load balancing loss added to the loss
    balance_weight: float = 0.001


PRESETS: dict[str, dict[str, Any]] = {
    "mixtral-8x7b": {},
    "mixtral-8x22b": {
        "vocab_size": 32768,
        "d_model": 6144,
        "n_layers": 56,
        "n_heads": 48,
        "d_ff": 16384,
        "max_length": 65536,
    },
}


class Layer(llama.Layer):
    def feed_forward(self, c: Config, index: int) -> nn.Module:
        experts = [GatedFeedForward(c.d_model, c.d_ff, get_activation(c.activation)) for _ in range(c.n_experts)]
        return MixtureOfExperts(c.d_model, experts, c.experts_per_token)


@contextmanager
def record_router_logits(routers: list[nn.Module]) -> Iterator[list[Tensor]]:
    """A context that yields the outputs of the routers: [T,N] of each, in the order of the layers."""
    found: list[Tensor] = []
    hooks = [router.register_forward_hook(lambda _module, _args, logits: found.append(logits)) for router in routers]
    try:
        yield found
    finally:
        for hook in hooks:
            hook.remove()


def routed_forward(
    self: Any,
    input_ids: Tensor | None = None,
    attention_mask: Tensor | None = None,
    position_ids: Tensor | None = None,
    labels: Tensor | None = None,
    *,
    cache: Cache | None = None,
    use_cache: bool = False,
    logits_to_keep: int = 0,
    **targets: Any,
) -> Output:
    """As Llama's; if the configuration asks for router_logits, the Output of a model without a task has them, [B·L,N]
    per layer, and that of a language model aux_loss, which is added to the loss; but not in a compiled decoding
    step."""
    given = (input_ids, attention_mask, position_ids, labels)
    how: dict[str, Any] = {"cache": cache, "use_cache": use_cache, "logits_to_keep": logits_to_keep, **targets}
    unread = cache is not None and torch.compiler.is_compiling()  # hooks cannot be part of a graph
    routers = [layer.ff.router for layer in self.layers if hasattr(layer.ff, "router")]
    if not (self.config.router_logits and routers) or self.head not in (None, "causal_lm") or unread:
        return llama.Llama.forward(self, *given, **how)
    with record_router_logits(routers) as logits:
        out = llama.Llama.forward(self, *given, **how)
    if self.head is None:
        return Output(out, router_logits=tuple(logits))
    mask = None if attention_mask is None else attention_mask[:, -input_ids.size(1) :].bool()  # type: ignore[union-attr]
    aux = load_balancing_loss(logits, self.config.experts_per_token, mask)
    if out.loss is not None:
        out["loss"] = out.loss + self.config.balance_weight * aux
    return Output(out, aux_loss=aux, router_logits=tuple(logits))


class Mixtral(llama.Llama):
    QA_PREFIX = None
    LAYER = Layer
    forward = routed_forward

    def prepare_steps(self) -> bool:
        return stack_experts(self)


MODEL = Mixtral
ROWS = {
    **{f"layers.{{}}.mlp.{name}": None for name in ("gate_proj", "up_proj", "down_proj")},
    "layers.{}.block_sparse_moe.gate": "layers.{}.ff.router",
    "layers.{}.block_sparse_moe.experts.{}.w1": "layers.{}.ff.experts.{}.gate",
    "layers.{}.block_sparse_moe.experts.{}.w3": "layers.{}.ff.experts.{}.up",
    "layers.{}.block_sparse_moe.experts.{}.w2": "layers.{}.ff.experts.{}.down",
}
HF, HF_TIED = llama.llama_names(False, ROWS), llama.llama_names(True, ROWS)
HF_HEADS = {
    "MixtralModel": None, "MixtralForCausalLM": "causal_lm",
    "MixtralForSequenceClassification": "sequence_classification",
    "MixtralForTokenClassification": "token_classification", "MixtralForQuestionAnswering": "question_answering",
}  # fmt: skip
HF_FIELDS = {
    **{published: local for published, local in llama.HF_FIELDS.items() if local not in ("attn_bias", "ff_bias")},
    "sliding_window": "window", "num_local_experts": "n_experts", "num_experts_per_tok": "experts_per_token",
    "output_router_logits": "router_logits", "router_aux_loss_coef": "balance_weight",
}  # fmt: skip
HF_FIXED = {"attention_bias": False, "mlp_bias": False}
HF_UNUSED = llama.HF_UNUSED | {"router_jitter_noise"}
from_hf_fields, to_hf_fields = read_rope, write_rope
HF_DEFAULTS = {"max_length": 131072}  # transformers' defaults, for fields that a file omits
