"""DistilBERT (Sanh et al. 2019, arXiv:1910.01108): half of BERT's layers, distilled from BERT.

Parent   bert
Differs  half the layers, initialised from every second one of BERT's; no sentence types and no pooler; a classifier
         reads the first position through a layer with ReLU
Trained  distillation: BERT's soft predictions, masked language modelling, and the cosine between hidden states
"""

from typing import Any

import torch
from torch import Tensor, nn

from ..namemap import NameMap
from ..nn import Dropout
from . import _base, bert
from . import _task_heads as task_heads
from ._base import LABEL_FIELDS, TIED_FIELDS, configuration
from .bert import BERT


@configuration
class Config(bert.Config):
    n_layers: int = 6
    n_types: int = 0
    head_dropout: float | None = 0.2
    span_dropout: float = 0.1


PRESETS: dict[str, dict[str, Any]] = {
    "distilbert-base-uncased": {},
    "distilbert-base-cased": {"vocab_size": 28996},
    "distilbert-base-multilingual-cased": {"vocab_size": 119547},
}


class PreClassifier(_base.Head):
    """A layer with ReLU on the first position, before the classifier."""

    def __init__(self, c: Config, scores: int) -> None:
        super().__init__(c)
        self.pre_classifier, self.classifier = nn.Linear(c.d_model, c.d_model), nn.Linear(c.d_model, scores)

    def scores(self, inputs: _base.HeadInputs) -> Tensor:
        return self.classifier(self.drop(torch.relu(self.pre_classifier(inputs.states[:, 0]))))


class SequenceClassificationHead(PreClassifier, task_heads.SequenceHead):
    def __init__(self, c: Config) -> None:
        super().__init__(c, c.num_labels)


class MultipleChoiceHead(PreClassifier, task_heads.ChoiceHead):
    def __init__(self, c: Config) -> None:
        super().__init__(c, 1)


class TokenClassificationHead(task_heads.TokenClassificationHead):
    def __init__(self, c: Config) -> None:
        super().__init__(c)
        self.drop = Dropout(c.dropout)


class QuestionAnsweringHead(task_heads.QuestionAnsweringHead):
    def __init__(self, c: Config) -> None:
        super().__init__(c)
        self.drop = Dropout(c.span_dropout)

    def forward(
        self, inputs: _base.HeadInputs, start_positions: Tensor | None = None, end_positions: Tensor | None = None
    ) -> dict[str, Tensor]:
        return super().forward(inputs._replace(states=self.drop(inputs.states)), start_positions, end_positions)


class DistilBERT(BERT):
    HEAD_CLASSES = {
        None: _base.NoHead, "masked_lm": _base.MaskedLMHead, "sequence_classification": SequenceClassificationHead,
        "token_classification": TokenClassificationHead, "question_answering": QuestionAnsweringHead,
        "multiple_choice": MultipleChoiceHead,
    }  # fmt: skip
    HEADS = tuple(HEAD_CLASSES)


MODEL = DistilBERT

HF = NameMap(
    {
        "embeddings.word_embeddings": "embed.tokens",
        "embeddings.position_embeddings": "embed.positions",
        "embeddings.LayerNorm": "embed.norm",
        "transformer.layer.{}.attention.q_lin": "layers.{}.attn.q_proj",
        "transformer.layer.{}.attention.k_lin": "layers.{}.attn.k_proj",
        "transformer.layer.{}.attention.v_lin": "layers.{}.attn.v_proj",
        "transformer.layer.{}.attention.out_lin": "layers.{}.attn.o_proj",
        "transformer.layer.{}.sa_layer_norm": "layers.{}.norm1",
        "transformer.layer.{}.ffn.lin1": "layers.{}.ff.up",
        "transformer.layer.{}.ffn.lin2": "layers.{}.ff.down",
        "transformer.layer.{}.output_layer_norm": "layers.{}.norm2",
    },
    prefix="distilbert.",
    heads={
        "vocab_transform": "task_head.dense",
        "vocab_layer_norm": "task_head.norm",
        "vocab_projector.bias": "task_head.bias",
        "pre_classifier": "task_head.pre_classifier",
        **bert.TASK_NAMES,
    },
    tied={"vocab_projector.weight": "embeddings.word_embeddings.weight"},
    constant=bert.CONSTANT,
)
HF_HEADS = {"DistilBertModel": None, "DistilBertForMaskedLM": "masked_lm", **bert.task_classes("DistilBert")}
HF_FIELDS = {
    "vocab_size": "vocab_size", "dim": "d_model", "n_layers": "n_layers", "n_heads": "n_heads", "hidden_dim": "d_ff",
    "max_position_embeddings": "max_length", "activation": "activation", "dropout": "dropout",
    "attention_dropout": "attn_dropout", "seq_classif_dropout": "head_dropout", "qa_dropout": "span_dropout",
    **LABEL_FIELDS, **TIED_FIELDS,
    "bos_token_id": "bos_token_id", "eos_token_id": "eos_token_id", "pad_token_id": "pad_token_id",
}  # fmt: skip
HF_FIXED: dict[str, Any] = {}
HF_UNUSED = {"initializer_range", "sinusoidal_pos_embds", "tie_weights_"}  # the file holds the sinusoids as weights
