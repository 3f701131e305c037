"""mBART (Liu et al. 2020, arXiv:2001.08210): BART in 25 languages at once; mBART-50 (Tang et al. 2020) in 50.

Parent   bart
Differs  pre-norm with a final norm, besides the norm after the embeddings; embeddings times sqrt(d_model) in the
         published models; a token names the language: the source ends with its own, and the decoder starts with that of
         the target, which is also the last token of the labels (mBART-50: both begin with it)
Trained  objectives.denoising in 25 languages, then pairs of languages
"""

from typing import Any

import torch
from torch import Tensor, nn

from ..nn import shift_right
from ..nn.cache import Cache
from . import _fairseq, bart
from ._base import configuration
from ._checks import check_ids
from ._seq2seq import shifted_labels
from .bart import BART, HF, HF_FIELDS, HF_UNUSED

__all__ = ["HF", "HF_FIELDS", "HF_UNUSED"]  # the same as BART's

CODES = (
    "ar_AR cs_CZ de_DE en_XX es_XX et_EE fi_FI fr_XX gu_IN hi_IN it_IT ja_XX kk_KZ ko_KR lt_LT lv_LV my_MM ne_NP nl_XX "
    "ro_RO ru_RU si_LK tr_TR vi_VN zh_CN "  # further languages of mBART-50:
    "af_ZA az_AZ bn_IN fa_IR he_IL hr_HR id_ID ka_GE km_KH mk_MK ml_IN mn_MN mr_IN pl_PL ps_AF pt_XX sv_SE sw_KE ta_IN "
    "te_IN th_TH tl_XX uk_UA ur_PK xh_ZA gl_ES sl_SI"
)
LANGUAGES = CODES.split()
FIRST_LANGUAGE = 250001  # the first id after the words


@configuration
class Config(bart.Config):
    decoder_start_token_id: int | None = None  # the token of a language, which the caller chooses
    num_labels: int = 2
    vocab_size: int = 250027
    scale_embedding: bool = True


PRESETS: dict[str, dict[str, Any]] = {
    "mbart-large-cc25": {},
    "mbart-large-en-ro": {"decoder_start_token_id": 250020},
    "mbart-large-50": {"vocab_size": 250054, "activation": "relu", "decoder_start_token_id": 2},
}


def language_id(code: str) -> int:
    """The token of a language: "ro_RO" -> 250020. Raises ValueError for a language that not even mBART-50 has."""
    if code not in LANGUAGES:
        raise ValueError(f"language {code!r} is not one of {', '.join(LANGUAGES)}")
    return FIRST_LANGUAGE + LANGUAGES.index(code)


def language_tables() -> dict[str, dict[str, int]]:
    """The tokens of the languages that each published size knows: preset -> {code: id}."""
    codes = {name: LANGUAGES if "50" in name else LANGUAGES[:25] for name in PRESETS}
    return {name: {code: language_id(code) for code in known} for name, known in codes.items()}


class EncoderLayer(bart.EncoderLayer):
    def forward(self, x: Tensor, mask: Tensor | None) -> Tensor:
        x = x + self.drop(self.self_attn(self.norm1(x), mask=mask))
        return x + self.drop(self.ff(self.norm2(x)))


class DecoderLayer(bart.DecoderLayer):
    def forward(
        self, x: Tensor, memory: Tensor | None, mask: Tensor | None, memory_mask: Tensor | None, cache: Cache | None
    ) -> Tensor:
        x = x + self.drop(self.self_attn(self.norm1(x), mask=mask, cache=cache))
        if memory is not None:
            x = x + self.drop(self.cross_attn(self.norm2(x), memory, mask=memory_mask, cache=cache))
        return x + self.drop(self.ff(self.norm3(x)))


class MBART(BART):
    ENCODER_LAYER, DECODER_LAYER, FINAL_NORM = EncoderLayer, DecoderLayer, nn.LayerNorm

    def decoder_ids(self, given: Tensor | None, labels: Tensor | None) -> Tensor:
        """Shifts the labels right, with the last one, the language, at the front of each row."""
        if given is not None or labels is None:
            return shifted_labels(self, given, labels)
        pad = self.config.pad_token_id
        labels = check_ids("labels", labels)
        labels = labels.masked_fill(labels == -100, pad)
        last = (labels != pad).sum(1, keepdim=True).clamp(min=1) - 1
        return torch.cat([labels.gather(1, last), shift_right(labels, pad)[:, 1:]], 1)


MODEL = MBART
HF_HEADS = {name.replace("Bart", "MBart"): head for name, head in bart.HF_HEADS.items()}
HF_FIXED = _fairseq.fixed_options(before=True, last=True, early=True, sinusoids=False)
HF_DEFAULTS = {
    "vocab_size": 50265,
    "scale_embedding": False,
}  # transformers' defaults, for fields that a file omits
