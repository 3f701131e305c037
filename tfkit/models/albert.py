"""ALBERT (Lan et al. 2019, arXiv:1909.11942): a BERT whose layers are all the same one.

Parent   bert
Differs  layers share their weights, in n_groups groups of group_size different layers; factorised embeddings: a narrow
         table and a projection (V·d_embed + d_embed·E in place of V·E); sentence order instead of next sentence
Trained  masked language modelling of n-grams, and sentence-order prediction (head "pretraining")
"""

from collections.abc import Iterator
from typing import Any

from torch import Tensor, nn

from ..namemap import NameMap
from ..nn.relative_key import RelativeKeyAttention
from . import _base, bert
from . import _task_heads as task_heads
from ._base import configuration
from ._checks import check_classes
from .bert import BERT


@configuration
class Config(bert.Config):
    vocab_size: int = 30000
    d_embed: int = 128
    d_model: int = 4096
    n_heads: int = 64
    n_groups: int = 1
    group_size: int = 1
    d_ff: int = 16384
    activation: str = "gelu_new"
    dropout: float = 0.0
    attn_dropout: float = 0.0
    head_dropout: float | None = 0.1
    bos_token_id: int | None = 2
    eos_token_id: int | None = 3


BASE = {"d_model": 768, "n_heads": 12, "d_ff": 3072}
LARGE = {"d_model": 1024, "n_layers": 24, "n_heads": 16, "d_ff": 4096}
XLARGE = {"d_model": 2048, "n_layers": 24, "n_heads": 16, "d_ff": 8192}
DROPS = {"dropout": 0.1, "attn_dropout": 0.1}
PRESETS: dict[
    str, dict[str, Any]
] = {  # the second version was trained longer and, but for the largest, without dropout
    "albert-base-v1": {**BASE, **DROPS, "activation": "gelu"},
    "albert-large-v1": {**LARGE, **DROPS, "activation": "gelu"},
    "albert-xlarge-v1": {**XLARGE, **DROPS, "activation": "gelu"},
    "albert-xxlarge-v1": {"activation": "gelu"},
    "albert-base-v2": BASE,
    "albert-large-v2": LARGE,
    "albert-xlarge-v2": XLARGE,
    "albert-xxlarge-v2": {},
}


class Embeddings(bert.Embeddings):
    """A narrow table, and a matrix that projects its vectors to the model's width."""

    def __init__(self, c: Any) -> None:
        super().__init__(c, c.d_embed)
        self.embed_proj: nn.Module = nn.Linear(c.d_embed, c.d_model)

    def forward(self, ids: Tensor, types: Tensor | None, position_ids: Tensor | None) -> Tensor:
        return self.embed_proj(super().forward(ids, types, position_ids))


class Layer(bert.Layer):
    def __init__(self, c: Config) -> None:
        super().__init__(c)
        if isinstance(self.attn, RelativeKeyAttention):  # the published code scales the scores by content alone
            self.attn.distance_scale = 1.0


class SharedLayers(nn.ModuleList):
    """Groups of layers, each run n_layers / n_groups times in turn; iteration yields one layer per run."""

    def __init__(self, c: Config) -> None:
        super().__init__(nn.ModuleList(Layer(c) for _ in range(c.group_size)) for _ in range(c.n_groups))
        self.runs = [int(i * c.n_groups / c.n_layers) for i in range(c.n_layers)]

    def __iter__(self) -> Iterator[nn.Module]:
        return (layer for run in self.runs for layer in self[run].children())


class MaskedLMHead(_base.MaskedLMHead):
    def __init__(self, c: Config) -> None:
        super().__init__(c, c.d_embed)


class SentenceOrderHead(task_heads.NextSentenceHead):
    """Predicts whether two sentences are in their original order (0) or swapped (1)."""

    def forward(self, inputs: _base.HeadInputs, labels: Tensor | None = None) -> dict[str, Tensor]:
        return super().forward(inputs._replace(pooled=self.drop(inputs.pooled)), labels)


class PretrainingHead(MaskedLMHead):
    NEEDS_POOLER = True
    TARGETS = ("labels", "sentence_order_label")

    def __init__(self, c: Config) -> None:
        super().__init__(c)
        self.seq_relationship = nn.Linear(c.d_model, 2)

    def forward(
        self, inputs: _base.HeadInputs, labels: Tensor | None = None, sentence_order_label: Tensor | None = None
    ) -> dict[str, Tensor]:
        words, order = self.scores(inputs), self.seq_relationship(self.drop(inputs.pooled))
        loss = task_heads.sum_losses(
            words, labels, order, check_classes("sentence_order_label", sentence_order_label, order)
        )
        return {"loss": loss, "prediction_logits": words, "sop_logits": order}


class ALBERT(BERT):
    HEAD_CLASSES = {
        None: _base.NoHeadWithPooler, "masked_lm": MaskedLMHead, "pretraining": PretrainingHead,
        "sentence_order": SentenceOrderHead,
        **bert.TASK_HEADS,
    }  # fmt: skip
    HEADS = tuple(HEAD_CLASSES)
    EMBEDDINGS = Embeddings
    LAYERS = SharedLayers


MODEL = ALBERT

LAYER = "encoder.albert_layer_groups.{}.albert_layers.{}."
HF = NameMap(
    {
        **{published: local for published, local in bert.BODY.items() if published.startswith("embeddings.")},
        "encoder.embedding_hidden_mapping_in": "embed.embed_proj",
        LAYER + "attention.query": "layers.{}.{}.attn.q_proj",
        LAYER + "attention.key": "layers.{}.{}.attn.k_proj",
        LAYER + "attention.value": "layers.{}.{}.attn.v_proj",
        LAYER + "attention.distance_embedding": "layers.{}.{}.attn.distances",
        LAYER + "attention.dense": "layers.{}.{}.attn.o_proj",
        LAYER + "attention.LayerNorm": "layers.{}.{}.norm1",
        LAYER + "ffn": "layers.{}.{}.ff.up",
        LAYER + "ffn_output": "layers.{}.{}.ff.down",
        LAYER + "full_layer_layer_norm": "layers.{}.{}.norm2",
        "pooler": "pooler",
    },
    prefix="albert.",
    heads={
        "predictions.dense": "task_head.dense",
        "predictions.LayerNorm": "task_head.norm",
        "predictions.bias": "task_head.bias",
        "sop_classifier.classifier": "task_head.seq_relationship",
        **bert.TASK_NAMES,
    },
    tied={
        "predictions.decoder.weight": "embeddings.word_embeddings.weight",
        "predictions.decoder.bias": "predictions.bias",
    },
    constant=bert.CONSTANT,
)
HF_HEADS = {
    "AlbertModel": None, "AlbertForPreTraining": "pretraining", "AlbertForMaskedLM": "masked_lm",
    **bert.task_classes("Albert"),
    "AlbertForSentenceOrder": "sentence_order",  # only here: transformers has it as a part of pretraining
}  # fmt: skip
HF_FIELDS = {
    **bert.ENCODER_FIELDS, "position_embedding_type": "position_type",
    "embedding_size": "d_embed", "num_hidden_groups": "n_groups", "inner_group_num": "group_size",
    "classifier_dropout_prob": "head_dropout",
}  # fmt: skip
del HF_FIELDS["classifier_dropout"]
HF_FIXED = {"is_decoder": False, "add_cross_attention": False}
HF_UNUSED = {"initializer_range", "down_scale_factor", "gap_size", "net_structure_type", "num_memory_blocks",
             "layers_to_keep", "inner_group"}  # fmt: skip
