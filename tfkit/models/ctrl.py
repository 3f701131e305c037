"""CTRL (Keskar et al. 2019, arXiv:1909.05858): a language model whose first token controls the kind of text.

Parent   gpt2
Differs  sinusoidal positions: all sines first, then all cosines (the transformer interleaves them), added to embeddings
         times sqrt(d_model); ReLU; the tied output matrix has a bias; no dropout on attention weights
Trained  objectives.causal_lm; the first token of each text is a control code that names its source ("Wikipedia",
         "Reviews", …), an ordinary word of the vocabulary
"""

from typing import Any

import torch
from torch import Tensor, nn

from ..namemap import NameMap
from ..nn import sinusoidal_positions
from ..nn.cache import Cache
from ..objectives.cross_entropy import word_scores
from . import gpt2
from ._base import LABEL_FIELDS, configuration


@configuration
class Config(gpt2.Config):
    vocab_size: int = 246534
    d_model: int = 1280
    n_layers: int = 48
    n_heads: int = 16
    d_ff: int | None = 8192
    max_length: int = 256
    activation: str = "relu"
    attn_dropout: float = 0.0
    eps: float = 1e-6  # of the last norm; the layers always use 1e-6
    bos_token_id: int | None = None
    eos_token_id: int | None = None


PRESETS: dict[str, dict[str, Any]] = {"ctrl": {}}


class Block(gpt2.Block):
    def __init__(self, c: Config) -> None:
        super().__init__(c)
        self.norm1.eps = self.norm2.eps = 1e-6


class CTRL(gpt2.GPT2):
    HEAD_CLASSES = {"sequence_classification": gpt2.GPT2.HEAD_CLASSES["sequence_classification"]}
    HEADS = (None, "causal_lm", *HEAD_CLASSES)
    BLOCK = Block
    SCALES_RESIDUAL_INIT = False
    sinusoids: torch.Tensor

    def __init__(self, config: Config, head: str | None = None) -> None:
        super().__init__(config, head)
        table = sinusoidal_positions(config.max_length, config.d_model)
        self.register_buffer("sinusoids", torch.cat([table[:, 0::2], table[:, 1::2]], dim=-1), persistent=False)
        if head == "causal_lm":
            self.score_bias = nn.Parameter(torch.zeros(config.vocab_size))

    def position_table(self, c: Any) -> None:
        return None

    def embed_inputs(self, ids: Tensor, types: Tensor | None = None) -> Tensor:
        return super().embed_inputs(ids, types) * self.config.d_model**0.5

    def hidden(self, x: Tensor, positions: Tensor, mask: Tensor | None, cache: Cache | None) -> Tensor:
        x = self.drop(x + self.sinusoids[positions].to(x.dtype))
        for layer in self.layers:
            x = layer(x, mask, cache)
        return self.norm(x)

    def score(self, x: Tensor) -> Tensor:
        return word_scores(x, self.output_matrix(self.embed), self.score_bias)


MODEL = CTRL

HF = NameMap(
    {
        "w": "embed",
        "h.{}.multi_head_attention.Wq": "layers.{}.attn.q_proj",
        "h.{}.multi_head_attention.Wk": "layers.{}.attn.k_proj",
        "h.{}.multi_head_attention.Wv": "layers.{}.attn.v_proj",
        "h.{}.multi_head_attention.dense": "layers.{}.attn.o_proj",
        "h.{}.ffn.0": "layers.{}.ff.up",
        "h.{}.ffn.2": "layers.{}.ff.down",
        "h.{}.layernorm1": "layers.{}.norm1",
        "h.{}.layernorm2": "layers.{}.norm2",
        "layernorm": "norm",
    },
    prefix="transformer.",
    heads={"lm_head.bias": "score_bias", "classifier": "task_head.score"},
    tied={"lm_head.weight": "w.weight"},
)
HF_HEADS = {
    "CTRLModel": None, "CTRLLMHeadModel": "causal_lm", "CTRLForSequenceClassification": "sequence_classification",
}  # fmt: skip
HF_FIELDS = {
    "vocab_size": "vocab_size", "n_embd": "d_model", "n_layer": "n_layers", "n_head": "n_heads", "dff": "d_ff",
    "n_positions": "max_length", "resid_pdrop": "dropout", "embd_pdrop": "embed_dropout", "layer_norm_epsilon": "eps",
    "bos_token_id": "bos_token_id", "eos_token_id": "eos_token_id", "pad_token_id": "pad_token_id",
    **LABEL_FIELDS, "tie_word_embeddings": "tie_word_embeddings",
}  # fmt: skip
HF_FIXED: dict[str, Any] = {}
HF_UNUSED = gpt2.NO_CHOICE | {"attn_pdrop"}  # the published file has it, but the published code does not read it
