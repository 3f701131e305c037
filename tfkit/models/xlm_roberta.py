"""XLM-RoBERTa (Conneau et al. 2019, arXiv:1911.02116): one model for a hundred languages.

Parent   roberta
Differs  a SentencePiece vocabulary of 250,002 that all languages share, so that most of the base model is its table;
         nothing in the input says which language it is (XLM's language embeddings are gone). The layers are RoBERTa's.
Trained  masked language modelling on 2.5 TB of web text, small languages drawn more often than they occur
"""

from . import bert, roberta
from .roberta import HF, HF_FIELDS, HF_FIXED, HF_UNSAID, HF_UNUSED, Config, RoBERTa

__all__ = ["HF", "HF_FIELDS", "HF_FIXED", "HF_UNSAID", "HF_UNUSED", "Config"]  # as RoBERTa's

BASE = {**roberta.BASE, "vocab_size": 250002}
PRESETS: dict[str, dict] = {"xlm-roberta-base": BASE, "xlm-roberta-large": {**BASE, **bert.LARGE}}


class XLMRoBERTa(RoBERTa):
    """RoBERTa with another vocabulary."""


MODEL = XLMRoBERTa

HF_HEADS = {
    "XLMRobertaModel": None, "XLMRobertaForMaskedLM": "masked_lm", "XLMRobertaForCausalLM": "causal_lm",
    **bert.task_classes("XLMRoberta"),
}  # fmt: skip
