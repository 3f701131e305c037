"""GPT-NeoX-20B and the Pythia models (Black et al. 2022, arXiv:2204.06745; Biderman et al. 2023, arXiv:2304.01373).

Parent   gptj (by idea)
Differs  attention and feed-forward network in parallel, each with its own norm; rotary positions
         in a quarter of each head's columns, column i with column i + R; one fused projection for queries, keys and
         values, head by head, with a bias
Trained  objectives.causal_lm on the Pile
"""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn

from ..namemap import NameMap
from ..nn import Cache, Dropout, FeedForward
from ..nn.feed_forward import get_activation
from ..nn.grouped_query import GroupedQueryAttention, Rotation
from . import _task_heads as task_heads
from . import llama
from ._base import configuration
from ._rope import read_rope, write_rope


@configuration
class Config(llama.Config):
    vocab_size: int = 50432
    d_model: int = 6144
    n_layers: int = 44
    n_heads: int = 64
    d_ff: int = 24576
    max_length: int = 2048
    activation: str = "gelu_fast"
    attn_bias: bool = True
    dropout: float = 0.0  # of the embeddings, after attention and after the feed-forward network
    eps: float = 1e-5
    rotary_fraction: float = 0.25
    parallel: bool = True  # whether both read x; otherwise the feed-forward network reads the output of the attention
    bos_token_id: int | None = 0
    eos_token_id: int | list[int] | None = 0


PYTHIA: dict[str, Any] = {"vocab_size": 50304, "activation": "gelu"}
PRESETS: dict[str, dict[str, Any]] = {
    "gpt-neox-20b": {},
    "pythia-70m": {**PYTHIA, "d_model": 512, "n_layers": 6, "n_heads": 8, "d_ff": 2048},
    "pythia-160m": {**PYTHIA, "d_model": 768, "n_layers": 12, "n_heads": 12, "d_ff": 3072},
    "pythia-410m": {**PYTHIA, "d_model": 1024, "n_layers": 24, "n_heads": 16, "d_ff": 4096},
    "pythia-1.4b": {**PYTHIA, "d_model": 2048, "n_layers": 24, "n_heads": 16, "d_ff": 8192},
}


class FusedHeadsAttention(GroupedQueryAttention):
    """Submodule qkv_proj, whose rows are [q | k | v] of the first head, then of the second, and so on."""

    def add_projections(self, d_model: int, bias: bool) -> None:
        self.qkv_proj = nn.Linear(d_model, 3 * self.n_heads * self.d_head, bias=bias)

    def queries_keys_values(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        heads = self.qkv_proj(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)  # [B,H,L,3·D]
        q, k, v = heads.chunk(3, dim=-1)
        return q, k, v


class Layer(llama.Layer):
    def __init__(self, c: Config, index: int) -> None:
        super().__init__(c, index)
        self.parallel, self.drop = c.parallel, Dropout(c.dropout)

    def norm(self, c: Config) -> nn.Module:
        return nn.LayerNorm(c.d_model, c.eps)

    def attention(self, c: Config, index: int) -> nn.Module:
        return FusedHeadsAttention(c.d_model, c.n_heads, bias=c.attn_bias, out_bias=c.attn_bias, dropout=c.attn_dropout)

    def feed_forward(self, c: Config, index: int) -> nn.Module:
        return FeedForward(c.d_model, c.d_ff, get_activation(c.activation))

    def forward(self, x: Tensor, rotation: Rotation, mask: Tensor | None, cache: Cache | None) -> Tensor:
        attended = x + self.drop(self.attn(self.norm1(x), rotation, mask=mask, cache=cache))
        return attended + self.drop(self.ff(self.norm2(x if self.parallel else attended)))


class GPTNeoX(llama.Llama):
    HEAD_CLASSES = {**llama.Llama.HEAD_CLASSES, "token_classification": task_heads.TokenClassificationHead}
    QA_PREFIX = None
    LAYER = Layer
    ZERO_PADDING = False

    def __init__(self, config: Config, head: str | None = None) -> None:
        super().__init__(config, head)
        self.drop = Dropout(config.dropout)

    def embed_inputs(self, ids: Tensor) -> Tensor:
        return self.drop(super().embed_inputs(ids))


MODEL = GPTNeoX


def _names(tied: bool) -> NameMap:
    return NameMap(
        {
            "embed_in": "embed",
            "layers.{}.input_layernorm": "layers.{}.norm1",
            "layers.{}.attention.query_key_value": "layers.{}.attn.qkv_proj",
            "layers.{}.attention.dense": "layers.{}.attn.o_proj",
            "layers.{}.post_attention_layernorm": "layers.{}.norm2",
            "layers.{}.mlp.dense_h_to_4h": "layers.{}.ff.up",
            "layers.{}.mlp.dense_4h_to_h": "layers.{}.ff.down",
            "final_layer_norm": "norm",
        },
        prefix="gpt_neox.",
        heads={
            "embed_out": "lm_head",
            "lm_head": "lm_head",
            "score": "task_head.score",
            "classifier": "task_head.classifier",
            "qa_outputs": "task_head.qa_outputs",
        },
        tied={"embed_out.weight": "embed_in.weight"} if tied else {},
        constant=[r"layers\.\d+\.attention\.(masked_)?bias", r"layers\.\d+\.attention\.rotary_emb\.inv_freq"],
    )


HF, HF_TIED = _names(False), _names(True)
HF_HEADS = {
    "GPTNeoXModel": None, "GPTNeoXForCausalLM": "causal_lm",
    "GPTNeoXForSequenceClassification": "sequence_classification",
    "GPTNeoXForTokenClassification": "token_classification", "GPTNeoXForQuestionAnswering": "question_answering",
}  # fmt: skip
UNKNOWN = ("attn_bias", "ff_bias", "n_kv_heads", "d_head", "eps", "attn_dropout")
HF_FIELDS = {
    **{published: local for published, local in llama.HF_FIELDS.items() if local not in UNKNOWN},
    "attention_bias": "attn_bias", "layer_norm_eps": "eps", "attention_dropout": "attn_dropout",
    "hidden_dropout": "dropout", "use_parallel_residual": "parallel", "partial_rotary_factor": "rotary_fraction",
}  # fmt: skip
HF_FIXED: dict[str, Any] = {}
HF_UNUSED = llama.HF_UNUSED | {"head_dim"}


def from_hf_fields(config_dict: dict[str, Any]) -> dict[str, Any]:
    """4.x files name the settings of rotary positions rotary_pct and rotary_emb_base."""
    old = {"rotary_pct": "partial_rotary_factor", "rotary_emb_base": "rope_theta"}
    return read_rope({old.get(field, field): value for field, value in config_dict.items()})


to_hf_fields = write_rope
HF_DEFAULTS = {"activation": "gelu", "eos_token_id": 2}  # transformers' defaults, for fields that a file omits
