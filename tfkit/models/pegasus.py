"""Pegasus (Zhang et al. 2019, arXiv:1912.08777): pretrained for summarisation by generating removed sentences.

Parent   bart
Differs  pre-norm with a final norm, none after the embeddings, which are multiplied by sqrt(d_model) in the published
         models; sinusoidal positions, as in Marian; the padding token also starts the decoder; ReLU in the published
         models
Trained  objectives.gap_sentences: the most important sentences are masked, and the decoder generates them
"""

from typing import Any

from torch import nn

from . import _fairseq, bart, marian, mbart
from ._base import configuration
from .bart import BART, HF_FIELDS, HF_UNUSED

__all__ = ["HF_FIELDS", "HF_UNUSED"]  # the same as BART's


@configuration
class Config(bart.Config):
    bos_token_id: int | None = 0
    pad_token_id: int = 0
    eos_token_id: int = 1
    decoder_start_token_id: int | None = 0
    forced_eos_token_id: int | None = 1
    num_labels: int = 2
    vocab_size: int = 96103
    n_layers: int = 16
    n_decoder_layers: int = 16
    activation: str = "relu"
    attn_dropout: float = 0.1
    ff_dropout: float = 0.1
    scale_embedding: bool = True


PRESETS: dict[str, dict[str, Any]] = {"pegasus-large": {}, "pegasus-xsum": {"max_length": 512}}


class Pegasus(BART):
    HEADS = (None, "seq2seq_lm", "causal_lm")
    ENCODER_LAYER, DECODER_LAYER, POSITIONS = mbart.EncoderLayer, mbart.DecoderLayer, marian.Positions
    EMBED_NORM, FINAL_NORM, SHIFTS_INPUT_IDS = nn.Identity, nn.LayerNorm, False


MODEL = Pegasus
HF = _fairseq.Sinusoids()
HF_HEADS = {
    "PegasusModel": None, "PegasusForConditionalGeneration": "seq2seq_lm", "PegasusForCausalLM": "causal_lm",
}  # fmt: skip
HF_FIXED = _fairseq.fixed_options(before=True, last=True, early=False, sinusoids=True)
HF_DEFAULTS = {
    "vocab_size": 50265,
    "n_layers": 12,
    "n_decoder_layers": 12,
    "activation": "gelu",
    "attn_dropout": 0.0,
    "ff_dropout": 0.0,
    "scale_embedding": False,
    "bos_token_id": None,
}  # transformers' defaults, for fields that a file omits
