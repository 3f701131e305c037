"""Marian (Junczys-Dowmunt et al. 2018, arXiv:1804.00344), the architecture of the OPUS-MT translation models.

Parent   bart
Differs  sinusoidal positions, all sines and then all cosines; no norm after the embeddings, which are multiplied by
         sqrt(d_model) in the published models; the padding token also starts the decoder; the bias on the logits is
         trained; some language pairs have a vocabulary for each side (share_embeddings=False)
Trained  translation between one pair of languages, with label smoothing 0.1 (Tiedemann & Thottingal 2020)
"""

from typing import Any

import torch
from torch import Tensor, nn

from ..nn.positions import sines_then_cosines, table_slice
from . import _fairseq, bart
from ._base import configuration, normal_init
from .bart import BART, HF_FIELDS, HF_UNUSED

__all__ = ["HF_UNUSED"]  # the same as BART's


@configuration
class Config(bart.Config):
    vocab_size: int = 58101
    share_embeddings: bool = True
    decoder_vocab_size: int | None = None  # default vocab_size
    bos_token_id: int | None = 0
    pad_token_id: int = 58100
    eos_token_id: int = 0
    decoder_start_token_id: int = 58100

    forced_eos_token_id: int | None = 0
    num_labels: int = 2

    d_model: int = 512
    n_layers: int = 6
    n_heads: int = 8
    d_ff: int = 2048
    n_decoder_layers: int = 6
    n_decoder_heads: int = 8
    d_decoder_ff: int = 2048
    max_length: int = 512
    activation: str = "swish"
    scale_embedding: bool = True

    def decoder_words(self) -> int:
        """The size of the decoder's vocabulary. Raises ValueError if embeddings are shared and the two sizes differ."""
        words = self.decoder_vocab_size or self.vocab_size
        if self.share_embeddings and words != self.vocab_size:
            raise ValueError(f"decoder_vocab_size={words}, but shared embeddings have vocab_size={self.vocab_size}")
        return words


PRESETS: dict[str, dict[str, Any]] = {"opus-mt-en-de": {}}


class Positions(nn.Module):
    table: torch.Tensor

    def __init__(self, c: Config) -> None:
        super().__init__()
        self.register_buffer("table", sines_then_cosines(c.max_length, c.d_model), persistent=False)

    def forward(self, ids: Tensor, past: Tensor | int) -> Tensor:
        return table_slice(self.table, past, ids.size(1))


class Marian(BART):
    HEADS = (None, "seq2seq_lm", "causal_lm")
    POSITIONS, EMBED_NORM, SHIFTS_INPUT_IDS = Positions, nn.Identity, False

    def __init__(self, config: Config, head: str | None = None) -> None:
        super().__init__(config, head)
        self.names = HF if config.share_embeddings else _fairseq.UntiedNameMap()
        if not config.share_embeddings and (head == "causal_lm" or self.decoder_embed is None):
            own = self.second_table()
            normal_init(own)
            setattr(self, "embed" if head == "causal_lm" else "decoder_embed", own)
            # as many rows as the source vocabulary, as in transformers
            if head == "causal_lm" and not config.tie_word_embeddings:
                self.output = nn.Linear(config.d_model, config.vocab_size, bias=False)
                normal_init(self.output)
        if head == "seq2seq_lm":
            self.final_logits_bias = torch.zeros(1, config.decoder_words())

    def second_table(self) -> nn.Embedding:
        return nn.Embedding(self.config.decoder_words(), self.config.d_model, self.config.pad_token_id)


MODEL = Marian

HF = _fairseq.SeparateTablesNameMap()
HF_HEADS = {"MarianModel": None, "MarianMTModel": "seq2seq_lm", "MarianForCausalLM": "causal_lm"}
HF_FIELDS = {
    **HF_FIELDS, "share_encoder_decoder_embeddings": "share_embeddings", "decoder_vocab_size": "decoder_vocab_size",
}  # fmt: skip
HF_FIXED = _fairseq.fixed_options(before=False, last=False, early=False, sinusoids=True)
HF_DEFAULTS = {
    "d_model": 1024,
    "n_layers": 12,
    "n_heads": 16,
    "d_ff": 4096,
    "n_decoder_layers": 12,
    "n_decoder_heads": 16,
    "d_decoder_ff": 4096,
    "max_length": 1024,
    "activation": "gelu",
    "scale_embedding": False,
    "bos_token_id": None,
}  # transformers' defaults, for fields that a file omits
