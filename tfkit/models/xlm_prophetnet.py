"""XLM-ProphetNet (Qi et al. 2020, arXiv:2001.04063; Liang et al. 2020, arXiv:2004.01401): ProphetNet in 100 languages.

Parent   prophetnet
Differs  the words: 250,000 SentencePiece pieces for all languages together, so that more than a third of the parameters
         are embeddings. The vocabulary's own special tokens are replaced by fifteen of BERT's (`vocabulary`): 0 pads,
         and [SEP], 2, both begins and ends the target and ends the source (`sentence`; nothing precedes the source, and
         no language is named). The layers are ProphetNet's. A file of the decoder alone has the table below the
         decoder.
Trained  as ProphetNet, on Wikipedia in 100 languages
"""

from collections.abc import Sequence
from typing import Any

from ..namemap import NameMap
from . import prophetnet
from ._base import configuration
from .prophetnet import HF, HF_DEFAULTS, HF_FIELDS, HF_FIXED, HF_UNUSED

__all__ = ["HF", "HF_FIELDS", "HF_FIXED", "HF_DEFAULTS", "HF_UNUSED"]  # the same as ProphetNet's


@configuration
class Config(prophetnet.Config):
    vocab_size: int = 250012
    bos_token_id: int = 2
    eos_token_id: int = 2
    decoder_start_token_id: int = 2


PRESETS: dict[str, dict[str, Any]] = {"xprophetnet-large-wiki100-cased": {}}
MARKS = ("[PAD]", "[CLS]", "[SEP]", "[UNK]", "[MASK]", *(f"[unused{i}]" for i in range(10)))
SEP = MARKS.index("[SEP]")


def vocabulary(pieces: Sequence[str]) -> list[str]:
    """The pieces of the SentencePiece model, in its order -> the tokens, in the order of their ids.

    Raises ValueError unless the first three pieces are the special tokens that are replaced.
    """
    if list(pieces[:3]) != ["<unk>", "<s>", "</s>"]:
        raise ValueError(f"pieces begin with {list(pieces[:3])}, not with <unk>, <s>, </s>: these are left out")
    return [*MARKS, *pieces[3:]]


def sentence(*parts: Sequence[int]) -> list[int]:
    """Lists of ids -> one list, with [SEP] after each part."""
    return [id for part in parts for id in (*part, SEP)]


class XLMProphetNet(prophetnet.ProphetNet):
    @property
    def names(self) -> NameMap:
        return HF_DECODER if self.head == "causal_lm" and self.config.tie_word_embeddings else super().names


MODEL = XLMProphetNet

HF_DECODER = prophetnet.ProphetNetNameMap("decoder.word_embeddings")
HF_HEADS = {f"XLM{name}": head for name, head in prophetnet.HF_HEADS.items()}
