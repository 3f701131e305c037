"""Mistral 7B (Jiang et al. 2023, arXiv:2310.06825).

Parent   llama
Differs  sliding-window attention: a token attends to the last `window` positions only; information from farther back
         reaches it through the layers below, `window` positions per layer; eight key-value heads for 32 query heads
Trained  objectives.causal_lm
"""

from __future__ import annotations

from typing import Any

from . import llama
from ._base import configuration
from ._rope import read_rope, write_rope


@configuration
class Config(llama.Config):
    n_kv_heads: int | None = 8
    d_ff: int = 14336
    max_length: int = 32768
    window: int | None = 4096  # None: full attention
    eps: float = 1e-05


PRESETS: dict[str, dict[str, Any]] = {
    "mistral-7b-v0.1": {},
    "mistral-7b-v0.3": {"vocab_size": 32768, "rope_theta": 1000000.0, "window": None},
}


class Mistral(llama.Llama):
    QA_PREFIX = None
    """Otherwise the same as Llama."""


MODEL = Mistral
HF, HF_TIED = llama.HF, llama.HF_TIED
HF_HEADS = {
    "MistralModel": None, "MistralForCausalLM": "causal_lm",
    "MistralForSequenceClassification": "sequence_classification",
    "MistralForTokenClassification": "token_classification", "MistralForQuestionAnswering": "question_answering",
}  # fmt: skip
HF_FIELDS = {published: local for published, local in llama.HF_FIELDS.items() if local not in ("attn_bias", "ff_bias")}
HF_FIELDS["sliding_window"] = "window"
HF_FIXED = {"attention_bias": False, "mlp_bias": False}
HF_UNUSED = llama.HF_UNUSED
from_hf_fields, to_hf_fields = read_rope, write_rope
HF_DEFAULTS = {"max_length": 131072, "eps": 1e-06}  # transformers' defaults, for fields that a file omits
