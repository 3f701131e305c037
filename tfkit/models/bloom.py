"""BLOOM (Scao et al. 2022, arXiv:2211.05100).

Parent   gpt2 (by idea)
Differs  no position embeddings but a linear bias: each head subtracts a slope times the distance between query and key
         from the scores (ALiBi, Press et al. 2021, arXiv:2108.12409), which extends to texts longer than any in
         training; a norm after the embeddings; one fused projection for queries, keys and values, head by head
Trained  objectives.causal_lm, on 46 languages and 13 programming languages
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from ..namemap import NameMap
from ..nn import Cache, Dropout, FeedForward, flex
from ..nn.feed_forward import get_activation
from . import _task_heads as task_heads
from . import llama
from ._base import LABEL_FIELDS, configuration
from .gpt_neox import FusedHeadsAttention


@configuration
class Config(llama.Config):
    vocab_size: int = 250880
    d_model: int = 1024
    n_layers: int = 24
    n_heads: int = 16
    d_ff: int | None = None  # type: ignore[assignment]  # 4 · d_model: published files cannot say another
    activation: str = "gelu_new"
    dropout: float = 0.0
    eps: float = 1e-5
    # what is added to each sub-layer's output: its normalised input instead of its input
    residual_after_norm: bool = False
    tie_word_embeddings: bool = True
    pad_token_id: int | None = 3


PRESETS: dict[str, dict[str, Any]] = {
    "bloom-560m": {},
    "bloom-1b7": {"d_model": 2048},
    "bloom-7b1": {"d_model": 4096, "n_layers": 30, "n_heads": 32},
    "bloom": {"d_model": 14336, "n_layers": 70, "n_heads": 112},
}


def alibi_slopes(n_heads: int, device: torch.device | None = None) -> Tensor:
    """The slope of each head: 2^(-8i/n) for i = 1 … n; if n is not a power of 2, the slopes of the power below, then
    every second one of the power above -> [H], float32"""
    power = 2 ** (n_heads.bit_length() - 1)
    exponents = torch.arange(1, power + 1, device=device) * (8 / power)  # both are created on the device, not copied
    between = torch.arange(1, 1 + 2 * (n_heads - power), 2, device=device) * (4 / power)
    return 2.0 ** -torch.cat([exponents, between])


def alibi_bias(non_padding: Tensor, n_heads: int) -> Tensor:
    """non_padding bool [B,K] -> [B,H,1,K]: slope · position, which is slope · distance up to a constant per row."""
    positions = (non_padding.cumsum(-1) - 1).clamp(min=0) * non_padding  # [B,K]
    return alibi_slopes(n_heads, non_padding.device)[:, None, None] * positions[:, None, None]


class Layer(llama.Parts):
    def __init__(self, c: Config, index: int) -> None:
        super().__init__(c, index)
        self.residual_after_norm, self.drop = c.residual_after_norm, Dropout(c.dropout)

    def norm(self, c: Config) -> nn.Module:
        return nn.LayerNorm(c.d_model, c.eps)

    def attention(self, c: Config, index: int) -> nn.Module:
        return FusedHeadsAttention(c.d_model, c.n_heads, bias=True, out_bias=True, dropout=c.attn_dropout)

    def feed_forward(self, c: Config, index: int) -> nn.Module:
        return FeedForward(c.d_model, c.d_ff or 4 * c.d_model, get_activation(c.activation))

    def forward(self, x: Tensor, bias: Tensor, mask: Tensor | None, cache: Cache | None) -> Tensor:
        """x [B,L,E], bias [B,H,1,K], mask bool [B,1,1,K] or None -> [B,L,E]"""
        normed = self.norm1(x)
        attended = self.drop(self.attn(normed, mask=mask, bias=bias, cache=cache))
        x = (normed if self.residual_after_norm else x) + attended
        normed = self.norm2(x)
        return (normed if self.residual_after_norm else x) + self.drop(self.ff(normed))


class BLOOM(llama.Llama):
    HEAD_CLASSES = {
        "sequence_classification": task_heads.LastTokenClassificationHead,
        "token_classification": task_heads.TokenClassificationHead,
        "question_answering": task_heads.QuestionAnsweringHead,
    }  # fmt: skip
    QA_PREFIX = None
    LAYER = Layer
    ZERO_PADDING = False

    def __init__(self, config: Config, head: str | None = None) -> None:
        super().__init__(config, head)
        self.embed_norm = nn.LayerNorm(config.d_model, config.eps)

    def check_rotation(self) -> None:
        """Nothing is rotated."""

    def embed_inputs(self, ids: Tensor) -> Tensor:
        return self.embed_norm(super().embed_inputs(ids))

    def hidden(
        self, x: Tensor, positions: Tensor, mask: Tensor | None, cache: Cache | None, past: llama.Past
    ) -> Tensor:
        keys = x.size(1) if cache is None else cache.width(x.size(1))
        non_padding = x.new_ones(1, keys, dtype=torch.bool) if mask is None else mask[:, 0, 0]
        bias: Any = alibi_bias(non_padding, self.config.n_heads).to(x.dtype)
        if flex.is_chosen(self, x.size(1), x.device, cache, self.config.attn_dropout):
            rule: Any = flex.visible(None if mask is None else non_padding) & flex.key_bias(bias[:, :, 0])
            mask, bias = rule, None
        for layer in self.layers:
            x = layer(x, bias, mask, cache)
        return self.norm(x)


MODEL = BLOOM


def _names(tied: bool) -> NameMap:
    return NameMap(
        {
            "word_embeddings": "embed",
            "word_embeddings_layernorm": "embed_norm",
            "h.{}.input_layernorm": "layers.{}.norm1",
            "h.{}.self_attention.query_key_value": "layers.{}.attn.qkv_proj",
            "h.{}.self_attention.dense": "layers.{}.attn.o_proj",
            "h.{}.post_attention_layernorm": "layers.{}.norm2",
            "h.{}.mlp.dense_h_to_4h": "layers.{}.ff.up",
            "h.{}.mlp.dense_4h_to_h": "layers.{}.ff.down",
            "ln_f": "norm",
        },
        prefix="transformer.",
        heads={
            "lm_head": "lm_head",
            "score": "task_head.score",
            "classifier": "task_head.classifier",
            "qa_outputs": "task_head.qa_outputs",
        },
        tied={"lm_head.weight": "word_embeddings.weight"} if tied else {},
    )


HF, HF_TIED = _names(False), _names(True)
HF_HEADS = {
    "BloomModel": None, "BloomForCausalLM": "causal_lm", "BloomForSequenceClassification": "sequence_classification",
    "BloomForTokenClassification": "token_classification", "BloomForQuestionAnswering": "question_answering",
}  # fmt: skip
HF_FIELDS = {
    "vocab_size": "vocab_size", "hidden_size": "d_model", "n_layer": "n_layers", "n_head": "n_heads",
    "layer_norm_epsilon": "eps", "hidden_dropout": "dropout", "attention_dropout": "attn_dropout",
    "classifier_dropout": "head_dropout", "apply_residual_connection_post_layernorm": "residual_after_norm",
    "tie_word_embeddings": "tie_word_embeddings", "initializer_range": "init_std", "bos_token_id": "bos_token_id",
    "eos_token_id": "eos_token_id", "pad_token_id": "pad_token_id", **LABEL_FIELDS,
}  # fmt: skip
HF_FIXED = {"slow_but_exact": False}
HF_UNUSED = {
    "pretraining_tp", "seq_length", "offset_alibi", "skip_bias_add", "skip_bias_add_qkv", "attention_softmax_in_fp32",
    "masked_softmax_fusion", "bias_dropout_fusion", "unk_token_id",
}  # fmt: skip


def from_hf_fields(config_dict: dict[str, Any]) -> dict[str, Any]:
    """The earliest files have the names n_embed, num_attention_heads and num_hidden_layers."""
    old = {"n_embed": "hidden_size", "num_attention_heads": "n_head", "num_hidden_layers": "n_layer"}
    return {old.get(field, field): value for field, value in config_dict.items()}


HF_DEFAULTS = {
    "d_model": 64,
    "n_layers": 2,
    "n_heads": 8,
    "pad_token_id": None,
}  # transformers' defaults, for fields that a file omits
