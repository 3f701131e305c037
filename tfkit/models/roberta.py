"""RoBERTa (Liu et al. 2019, arXiv:1907.11692): BERT, trained longer on more, with fewer tasks.

Parent   bert
Differs  no next-sentence task, so one sentence type; positions count from pad_token_id + 1 and skip padding, as fairseq
         does; a classifier reads the first position through a layer of its own, with dropout before and after it
Trained  masked language modelling alone, with masks drawn afresh each time
"""

from typing import Any

from torch import Tensor

from ..namemap import NameMap
from ..nn import Dropout
from . import _base, bert
from . import _task_heads as task_heads
from ._base import configuration
from .bert import BERT, HF_FIELDS, HF_FIXED, HF_UNUSED

__all__ = ["HF_FIELDS", "HF_FIXED", "HF_UNUSED"]  # the same as BERT's


@configuration
class Config(bert.Config):
    vocab_size: int = 50265
    max_length: int = 514
    n_types: int = 1
    eps: float = 1e-5
    bos_token_id: int | None = 0
    eos_token_id: int | None = 2
    pad_token_id: int = 1


PRESETS: dict[str, dict[str, Any]] = {
    "roberta-base": {},
    "roberta-large": bert.LARGE,
    "distilroberta-base": {"n_layers": 6},
}


class Embeddings(bert.Embeddings):
    def __init__(self, c: Config) -> None:
        super().__init__(c)
        self.positions.padding_idx = c.pad_token_id

    def make_position_ids(self, ids: Tensor) -> Tensor:
        """ids [B,L] -> position_ids [B,L]; padding has a position of its own, which no token shares"""
        pad = self.positions.padding_idx
        non_padding = ids != pad
        return non_padding.cumsum(-1) * non_padding + pad


class MaskedLMHead(_base.MaskedLMHead):
    def __init__(self, c: Config) -> None:
        super().__init__(c, activation_name="gelu")  # independent of the layers' activation


class CausalLMHead(_base.ShiftedLabels, MaskedLMHead):
    """Predicts the next token, for a causal model."""


class MultipleChoiceHead(task_heads.MultipleChoiceHead):
    def __init__(self, c: Config) -> None:
        super().__init__(c)
        self.drop = Dropout(c.dropout)  # independent of head_dropout


class RoBERTa(BERT):
    EMBEDDINGS = Embeddings
    HEAD_CLASSES = {
        None: _base.NoHeadWithPooler, "masked_lm": MaskedLMHead, "causal_lm": CausalLMHead, **bert.TASK_HEADS,
        "sequence_classification": task_heads.ClsTokenClassificationHead, "multiple_choice": MultipleChoiceHead,
    }  # fmt: skip
    HEADS = tuple(HEAD_CLASSES)

    @property
    def last_position(self) -> int:
        """Positions count from pad_token_id + 1."""
        return self.config.max_length - self.config.pad_token_id - 1


MODEL = RoBERTa


HF = NameMap(
    bert.BODY,
    prefix="roberta.",
    heads={
        "lm_head.dense": "task_head.dense",
        "lm_head.layer_norm": "task_head.norm",
        "lm_head.bias": "task_head.bias",
        **bert.TASK_NAMES,
    },
    tied={"lm_head.decoder.weight": "embeddings.word_embeddings.weight", "lm_head.decoder.bias": "lm_head.bias"},
    constant=bert.CONSTANT,
)
HF_HEADS = {
    "RobertaModel": None, "RobertaForMaskedLM": "masked_lm", "RobertaForCausalLM": "causal_lm",
    **bert.task_classes("Roberta"),
}  # fmt: skip
HF_DEFAULTS = {**bert.HF_DEFAULTS, "max_length": 512, "n_types": 2, "eps": 1e-12}  # transformers' defaults
