"""M2M-100 (Fan et al. 2020, arXiv:2010.11125): translation between any two of 100 languages, not by way of English.

Parent   bart
Differs  pre-norm with a final norm, none after the embeddings, which are multiplied by sqrt(d_model); ReLU; sinusoidal
         positions as in tensor2tensor, which count from pad_token_id + 1 and skip padding; LayerDrop in training; both
         sides begin with the token of their language: the decoder starts with the end token, and its first
         token is forced to be the target's language
Trained  translation of 7.5 billion pairs of sentences from the web, with back-translation
"""

import math
from typing import Any

import torch
from torch import Tensor, nn

from . import _fairseq, bart, mbart
from ._base import configuration
from .bart import BART, HF_FIELDS, HF_UNUSED

__all__ = ["HF_FIELDS", "HF_UNUSED"]  # the same as BART's

CODES = (
    "af am ar ast az ba be bg bn br bs ca ceb cs cy da de el en es et fa ff fi fr fy ga gd gl gu ha he hi hr ht hu hy "
    "id ig ilo is it ja jv ka kk km kn ko lb lg ln lo lt lv mg mk ml mn mr ms my ne nl no ns oc or pa pl ps pt ro ru "
    "sd si sk sl so sq sr ss su sv sw ta th tl tn tr uk ur uz vi wo xh yi yo zh zu"
)
LANGUAGES = CODES.split()
FIRST_LANGUAGE = 128004  # the first id after the words


def language_id(code: str) -> int:
    """The token of a language: "en" -> 128022. Raises ValueError for a language that the model does not have."""
    if code not in LANGUAGES:
        raise ValueError(f"language {code!r} is not one of {', '.join(LANGUAGES)}")
    return FIRST_LANGUAGE + LANGUAGES.index(code)


@configuration
class Config(bart.Config):
    vocab_size: int = 128112
    activation: str = "relu"
    attn_dropout: float = 0.1
    layerdrop: float = 0.05
    decoder_layerdrop: float = 0.05
    scale_embedding: bool = True
    forced_eos_token_id: int | None = None
    num_labels: int = 2


BIG = {"n_layers": 24, "n_decoder_layers": 24, "d_ff": 8192, "d_decoder_ff": 8192}
PRESETS: dict[str, dict[str, Any]] = {"m2m100_418M": {}, "m2m100_1.2B": BIG}


def language_tables() -> dict[str, dict[str, int]]:
    """The tokens of the languages that each published size knows: preset -> {code: id}."""
    return {name: {code: language_id(code) for code in LANGUAGES} for name in PRESETS}


def sinusoids(length: int, dim: int) -> Tensor:
    """Sines left, cosines right, with frequencies from 1 to 1/10000 inclusive -> float32 [length,dim]. They are
    computed in float32, like fairseq's: the trained models know its rounding at far positions."""
    frequencies = torch.exp(torch.arange(dim // 2).float() * -(math.log(10000) / (dim // 2 - 1)))
    angle = torch.arange(length).float()[:, None] * frequencies
    return torch.cat([angle.sin(), angle.cos(), torch.zeros(length, dim % 2)], 1)


class Positions(nn.Module):
    table: torch.Tensor

    def __init__(self, c: Config) -> None:
        super().__init__()
        self.pad = c.pad_token_id
        table = sinusoids(self.pad + 1 + c.max_length, c.d_model)
        table[self.pad] = 0
        self.register_buffer("table", table, persistent=False)

    def forward(self, ids: Tensor, past: Tensor | int) -> Tensor:
        non_padding = ids != self.pad
        return self.table[(non_padding.cumsum(1) + past) * non_padding + self.pad]


class M2M100(BART):
    HEADS = (None, "seq2seq_lm")
    ENCODER_LAYER, DECODER_LAYER, POSITIONS = mbart.EncoderLayer, mbart.DecoderLayer, Positions
    EMBED_NORM, FINAL_NORM, LOGITS_BIAS, SHIFTS_INPUT_IDS = nn.Identity, nn.LayerNorm, False, False


MODEL = M2M100
HF = _fairseq.FairseqNameMap()
HF_HEADS = {"M2M100Model": None, "M2M100ForConditionalGeneration": "seq2seq_lm"}
HF_FIXED = _fairseq.fixed_options(before=True, last=True, early=False, sinusoids=True)
