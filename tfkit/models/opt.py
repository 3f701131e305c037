"""OPT (Zhang et al. 2022, arXiv:2205.01068): GPT-3's sizes, with open weights.

Parent   gpt3 (by idea)
Differs  every layer attends to all earlier positions; ReLU; positions are counted from the first token that is not
         padding; in the 350m model narrower embeddings, and post-norm
Trained  objectives.causal_lm
"""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn

from ..namemap import NameMap
from ..nn import Attention, Cache, Dropout, FeedForward
from ..nn.feed_forward import get_activation
from ..nn.positions import position_range
from . import _task_heads as task_heads
from . import llama
from ._base import LABEL_FIELDS, configuration
from ._checks import check_max_length, embed_ids

OFFSET = 2  # the first two rows of the table come from fairseq; padding reads the second


@configuration
class Config(llama.Config):
    vocab_size: int = 50272
    d_model: int = 768
    d_embed: int | None = None  # default d_model
    n_layers: int = 12
    n_heads: int = 12
    d_ff: int = 3072
    max_length: int = 2048
    activation: str = "relu"
    biases: bool = True  # of all linear layers
    dropout: float = 0.1
    pre_norm: bool = True
    norm_affine: bool = True  # whether norms have weights and biases
    last_norm: bool = True  # after all layers, if norms come before the sub-layers
    eps: float = 1e-5
    tie_word_embeddings: bool = True
    bos_token_id: int | None = 2
    pad_token_id: int | None = 1


PRESETS: dict[str, dict[str, Any]] = {
    "opt-125m": {},
    "opt-350m": {
        "d_model": 1024, "d_embed": 512, "n_layers": 24, "n_heads": 16, "d_ff": 4096, "pre_norm": False,
    },
    "opt-1.3b": {"d_model": 2048, "n_layers": 24, "n_heads": 32, "d_ff": 8192},
    "opt-6.7b": {"d_model": 4096, "n_layers": 32, "n_heads": 32, "d_ff": 16384},
    "opt-66b": {"d_model": 9216, "n_layers": 64, "n_heads": 72, "d_ff": 36864},
}  # fmt: skip


class Layer(llama.Layer):
    def __init__(self, c: Config, index: int) -> None:
        super().__init__(c, index)
        self.pre_norm, self.drop = c.pre_norm, Dropout(c.dropout)

    def norm(self, c: Config) -> nn.Module:
        return nn.LayerNorm(c.d_model, c.eps, elementwise_affine=c.norm_affine)

    def attention(self, c: Config, index: int) -> nn.Module:
        return Attention(c.d_model, c.n_heads, bias=c.biases, dropout=c.attn_dropout, causal=True)

    def feed_forward(self, c: Config, index: int) -> nn.Module:
        ff = FeedForward(c.d_model, c.d_ff, get_activation(c.activation))
        if not c.biases:
            ff.up, ff.down = (nn.Linear(p.in_features, p.out_features, bias=False) for p in (ff.up, ff.down))
        return ff

    def forward(self, x: Tensor, rotation: Any, mask: Tensor | None, cache: Cache | None) -> Tensor:
        if self.pre_norm:
            x = x + self.drop(self.attn(self.norm1(x), mask=mask, cache=cache))
            return x + self.drop(self.ff(self.norm2(x)))
        x = self.norm1(x + self.drop(self.attn(x, mask=mask, cache=cache)))
        return self.norm2(x + self.drop(self.ff(x)))


class OPT(llama.Llama):
    HEAD_CLASSES = {
        "sequence_classification": task_heads.LastTokenClassificationHead,
        "question_answering": task_heads.QuestionAnsweringHead,
    }  # fmt: skip
    QA_PREFIX = None
    HEADS = (None, "causal_lm", *HEAD_CLASSES)
    LAYER = Layer
    FLEX_ATTENTION = False

    def __init__(self, config: Config, head: str | None = None) -> None:
        super().__init__(config, head)
        c, width = config, self.embed_width()
        self.position = nn.Embedding(c.max_length + OFFSET, c.d_model)
        if width != c.d_model:
            self.project_in = nn.Linear(width, c.d_model, bias=False)
            self.project_out = nn.Linear(c.d_model, width, bias=False)
        self.apply(self.init_weights)

    def check_rotation(self) -> None:
        """Nothing is rotated."""

    def embed_width(self) -> int:
        return self.config.d_embed or self.config.d_model

    def last_norm(self) -> nn.Module:
        return super().last_norm() if self.config.pre_norm and self.config.last_norm else nn.Identity()

    def positions(self, ids: Tensor, non_padding: Tensor | None, past: llama.Past) -> Tensor:
        """Counts the tokens that are not padding; padding has position -1. Raises ValueError past the end of the
        table."""
        check_max_length(self.config, "input_ids", ids, past)
        if non_padding is None:
            return position_range(past, ids.size(1), ids.device)
        return (non_padding.cumsum(-1) * non_padding - 1)[:, -ids.size(1) :]

    @property
    def last_position(self) -> int | None:
        return self.config.max_length

    @property
    def position_limit(self) -> int | None:
        """Its positions are in a table."""
        return self.last_position

    def hidden(
        self, x: Tensor, positions: Tensor, mask: Tensor | None, cache: Cache | None, past: llama.Past
    ) -> Tensor:
        narrow = self.embed_width() != self.config.d_model
        x = self.project_in(x) if narrow else x
        x = x + embed_ids(self.position, positions + OFFSET, "position_ids")
        for layer in self.layers:
            x = layer(x, None, mask, cache)
        x = self.norm(x)
        return self.project_out(x) if narrow else x


MODEL = OPT


def _names(tied: bool) -> NameMap:
    return NameMap(
        {
            "decoder.embed_tokens": "embed",
            "decoder.embed_positions": "position",
            "decoder.project_in": "project_in",
            "decoder.project_out": "project_out",
            **{f"decoder.layers.{{}}.self_attn.{x}_proj": f"layers.{{}}.attn.{x}_proj" for x in "qkv"},
            "decoder.layers.{}.self_attn.out_proj": "layers.{}.attn.o_proj",
            "decoder.layers.{}.self_attn_layer_norm": "layers.{}.norm1",
            "decoder.layers.{}.fc1": "layers.{}.ff.up",
            "decoder.layers.{}.fc2": "layers.{}.ff.down",
            "decoder.layers.{}.final_layer_norm": "layers.{}.norm2",
            "decoder.final_layer_norm": "norm",
        },
        prefix="model.",
        heads={"lm_head": "lm_head", "score": "task_head.score", "qa_outputs": "task_head.qa_outputs"},
        tied={"lm_head.weight": "decoder.embed_tokens.weight"} if tied else {},
    )


HF, HF_TIED = _names(False), _names(True)
HF_HEADS = {
    "OPTModel": None, "OPTForCausalLM": "causal_lm", "OPTForSequenceClassification": "sequence_classification",
    "OPTForQuestionAnswering": "question_answering",
}  # fmt: skip
HF_FIELDS = {
    "vocab_size": "vocab_size", "hidden_size": "d_model", "word_embed_proj_dim": "d_embed",
    "num_hidden_layers": "n_layers", "num_attention_heads": "n_heads", "ffn_dim": "d_ff",
    "max_position_embeddings": "max_length", "activation_function": "activation", "dropout": "dropout",
    "attention_dropout": "attn_dropout", "do_layer_norm_before": "pre_norm",
    "layer_norm_elementwise_affine": "norm_affine",
    "tie_word_embeddings": "tie_word_embeddings",
    "init_std": "init_std", "bos_token_id": "bos_token_id", "eos_token_id": "eos_token_id",
    "pad_token_id": "pad_token_id", "last_norm": "last_norm",
    "biases": "biases", **LABEL_FIELDS,
}  # fmt: skip
HF_FIXED = {"layerdrop": 0.0}
HF_UNUSED = {"_remove_final_layer_norm", "enable_bias", "activation_dropout"}


def from_hf_fields(config_dict: dict[str, Any]) -> dict[str, Any]:
    """Two of the published fields are inverted here, or stand for two fields of Config."""
    biases = config_dict.get("enable_bias", True)
    return {**config_dict, "last_norm": not config_dict.get("_remove_final_layer_norm", False), "biases": biases}


def to_hf_fields(written: dict[str, Any]) -> dict[str, Any]:
    """The inverse of `from_hf_fields`; a width of the embeddings equal to the model's must be written."""
    written = dict(written)
    written["_remove_final_layer_norm"] = not written.pop("last_norm")
    written["enable_bias"] = written.pop("biases")
    written["word_embed_proj_dim"] = written["word_embed_proj_dim"] or written["hidden_size"]
    return written
