"""XLM-RoBERTa (Conneau et al. 2019, arXiv:1911.02116): one model for a hundred languages.

Parent   roberta (by idea)
Differs  a SentencePiece vocabulary of 250,002 that all languages share, so that most of the base model's parameters are
         embeddings; no language embeddings, unlike XLM. The layers are RoBERTa's.
Trained  masked language modelling on 2.5 TB of web text, low-resource languages sampled more often than they occur
"""

from typing import Any

from . import bert, roberta
from ._base import configuration
from .roberta import HF, HF_FIELDS, HF_FIXED, HF_UNUSED, Embeddings, RoBERTa

__all__ = ["HF", "HF_FIELDS", "HF_FIXED", "HF_UNUSED"]  # the same as RoBERTa's


@configuration
class Config(roberta.Config):
    vocab_size: int = 250002


PRESETS: dict[str, dict[str, Any]] = {"xlm-roberta-base": {}, "xlm-roberta-large": bert.LARGE}


class XLMRoBERTa(bert.BERT):
    """RoBERTa's parts: only the vocabulary differs."""

    EMBEDDINGS, HEAD_CLASSES, HEADS = Embeddings, RoBERTa.HEAD_CLASSES, RoBERTa.HEADS


MODEL = XLMRoBERTa

HF_HEADS = {
    "XLMRobertaModel": None, "XLMRobertaForMaskedLM": "masked_lm", "XLMRobertaForCausalLM": "causal_lm",
    **bert.task_classes("XLMRoberta"),
}  # fmt: skip
HF_DEFAULTS = {**roberta.HF_DEFAULTS, "vocab_size": 30522}  # transformers' defaults
