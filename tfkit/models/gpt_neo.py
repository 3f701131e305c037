"""GPT-Neo (Black et al. 2021, EleutherAI, doi:10.5281/zenodo.5297715): an open replication of GPT-3.

Parent   gpt3 (by idea)
Differs  the scores are not divided by sqrt(d_head) (the weights absorb it); queries, keys and values without bias;
         attention_types lists for each layer whether its attention is local
Trained  objectives.causal_lm on the Pile
"""

from typing import Any

from torch import Tensor

from ..namemap import NameMap
from ..nn import Attention
from ..nn.cache import Cache
from . import gpt2, gpt3
from ._base import LABEL_FIELDS, configuration


@configuration
class Config(gpt3.Config):
    d_model: int = 2048
    n_layers: int = 24
    n_heads: int = 16
    attention_types: list[Any] | tuple[Any, ...] = (
        (("global", "local"), 12),
    )  # patterns, each with its number of repetitions
    dropout: float = 0.0
    embed_dropout: float = 0.0
    attn_dropout: float = 0.0


PRESETS: dict[str, dict[str, Any]] = {
    "gpt-neo-125m": {
        "d_model": 768, "n_layers": 12, "n_heads": 12, "attention_types": ((("global", "local"), 6),),
    },
    "gpt-neo-1.3B": {},
    "gpt-neo-2.7B": {
        "d_model": 2560, "n_layers": 32, "n_heads": 20, "attention_types": ((("global", "local"), 16),),
    },
}  # fmt: skip


class Block(gpt2.Block):
    def attention(self, c: Any) -> Attention:
        how: dict[str, Any] = {"dropout": c.attn_dropout, "causal": True}
        return Attention(c.d_model, c.n_heads, bias=False, out_bias=True, scale=1.0, **how)


class GPTNeo(gpt2.GPT2):
    HEAD_CLASSES = {head: cls for head, cls in gpt2.GPT2.HEAD_CLASSES.items() if head != "double_heads"}
    HEADS = (None, "causal_lm", *HEAD_CLASSES)
    BLOCK = Block
    FLEX_ATTENTION = True
    SCALES_RESIDUAL_INIT = False

    def __init__(self, config: Config, head: str | None = None) -> None:
        super().__init__(config, head)
        self.local()  # raises early if the pattern does not fit

    def hidden(self, x: Tensor, positions: Tensor, mask: Tensor | None, cache: Cache | None) -> Tensor:
        return gpt3.banded_layers(self, self.local(), x, positions, mask, cache)

    def local(self) -> list[bool]:
        """Whether each layer is local. Raises ValueError for a pattern with another number of layers, or an unknown
        kind."""
        kinds = [kind for pattern, times in self.config.attention_types for kind in list(pattern) * times]
        if len(kinds) != self.config.n_layers or not set(kinds) <= {"global", "local"}:
            raise ValueError(f"attention_types must name {self.config.n_layers} layers, global or local; got {kinds}")
        return [kind == "local" for kind in kinds]


MODEL = GPTNeo

HF = NameMap(
    {
        "wte": "embed",
        "wpe": "position",
        "h.{}.ln_1": "layers.{}.norm1",
        "h.{}.attn.attention.q_proj": "layers.{}.attn.q_proj",
        "h.{}.attn.attention.k_proj": "layers.{}.attn.k_proj",
        "h.{}.attn.attention.v_proj": "layers.{}.attn.v_proj",
        "h.{}.attn.attention.out_proj": "layers.{}.attn.o_proj",
        "h.{}.ln_2": "layers.{}.norm2",
        "h.{}.mlp.c_fc": "layers.{}.ff.up",
        "h.{}.mlp.c_proj": "layers.{}.ff.down",
        "ln_f": "norm",
    },
    prefix="transformer.",
    heads=gpt2.TASK_NAMES,
    tied={"lm_head.weight": "wte.weight"},
    constant=[r"h\.\d+\.attn\.attention\.(masked_)?bias"],
)
HF_HEADS = {
    "GPTNeoModel": None, "GPTNeoForCausalLM": "causal_lm", "GPTNeoForSequenceClassification": "sequence_classification",
    "GPTNeoForTokenClassification": "token_classification", "GPTNeoForQuestionAnswering": "question_answering",
}  # fmt: skip
HF_FIELDS = {
    "vocab_size": "vocab_size", "hidden_size": "d_model", "num_layers": "n_layers", "num_heads": "n_heads",
    "intermediate_size": "d_ff", "max_position_embeddings": "max_length", "attention_types": "attention_types",
    "window_size": "window", "activation_function": "activation", "resid_dropout": "dropout",
    "embed_dropout": "embed_dropout", "attention_dropout": "attn_dropout", "layer_norm_epsilon": "eps",
    "bos_token_id": "bos_token_id", "eos_token_id": "eos_token_id", "pad_token_id": "pad_token_id",
    "classifier_dropout": "head_dropout", "tie_word_embeddings": "tie_word_embeddings", **LABEL_FIELDS,
}  # fmt: skip
HF_FIXED: dict[str, Any] = {}
HF_UNUSED = gpt2.NO_CHOICE | {"attention_layers"}  # attention_types says the same
