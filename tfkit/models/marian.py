"""Marian (Junczys-Dowmunt et al. 2018, arXiv:1804.00344), as the thousand OPUS-MT models of Helsinki have it.

Parent   bart
Differs  sinusoids for positions, all sines and then all cosines; no norm after the embeddings, which are multiplied by
         sqrt(d_model) as published; padding is also the token that the decoder starts with; the constant beside the
         logits comes from training; some pairs have a vocabulary for each side (share_embeddings=False)
Trained  translation of one pair of languages, with label smoothing 0.1 (Tiedemann & Thottingal 2020)
"""

from dataclasses import dataclass

import torch
from torch import nn

from ..namemap import NameMap
from ..nn import sinusoidal_positions
from . import _fairseq, bart
from .bart import BART, HF_FIELDS, HF_UNUSED

__all__ = ["HF_UNUSED"]  # as BART's


@dataclass(frozen=True, kw_only=True)
class Config(bart.Config):
    vocab_size: int = 58101
    share_embeddings: bool = True
    decoder_vocab_size: int | None = None  # as vocab_size unless given
    bos_token_id: int | None = None
    pad_token_id: int = 58100
    eos_token_id: int = 0
    decoder_start_token_id: int = 58100

    forced_eos_token_id: int | None = 0
    num_labels: int = 2

    def decoder_words(self):
        """How many the decoder knows. ValueError where embeddings are shared and the two numbers differ."""
        words = self.decoder_vocab_size or self.vocab_size
        if self.share_embeddings and words != self.vocab_size:
            raise ValueError(f"decoder_vocab_size={words}, but shared embeddings have vocab_size={self.vocab_size}")
        return words


OPUS = {
    "d_model": 512, "n_layers": 6, "n_heads": 8, "d_ff": 2048, "n_decoder_layers": 6, "n_decoder_heads": 8,
    "d_decoder_ff": 2048, "max_length": 512, "activation": "swish", "scale_embedding": True, "bos_token_id": 0,
}  # fmt: skip
PRESETS: dict[str, dict] = {"opus-mt-en-de": OPUS}


def sinusoids(length, dim):
    """The waves of `sinusoidal_positions`, sines left, cosines right -> [length,dim]"""
    table = sinusoidal_positions(length, dim)
    return torch.cat([table[:, 0::2], table[:, 1::2]], 1)


class Positions(nn.Module):
    table: torch.Tensor

    def __init__(self, c):
        super().__init__()
        self.register_buffer("table", sinusoids(c.max_length, c.d_model), persistent=False)

    def forward(self, ids, past):
        return self.table[past : past + ids.size(1)]


class Marian(BART):
    HEADS = (None, "seq2seq_lm", "causal_lm")
    POSITIONS, EMBED_NORM, REREADS = Positions, nn.Identity, False

    def __init__(self, config: Config, head=None):
        super().__init__(config, head)
        self.decoder_embed = None
        if not config.share_embeddings:
            own = nn.Embedding(config.decoder_words(), config.d_model, config.pad_token_id)
            self.start(own)
            setattr(self, "embed" if head == "causal_lm" else "decoder_embed", own)
        if head == "seq2seq_lm":
            self.final_logits_bias = torch.zeros(1, config.decoder_words())

    def table(self, side):
        return self.decoder_embed if side == "decoder" and self.decoder_embed is not None else self.embed


MODEL = Marian


class Sinusoids(_fairseq.Names):
    """Positions are computed: a file may leave them out, and if it has them they must be these."""

    def load(self, theirs):
        theirs = self.stripped(theirs)
        for name in [name for name in theirs if name.endswith("embed_positions.weight")]:
            table = theirs.pop(name).float()
            if table.dim() != 2 or not torch.allclose(table, sinusoids(*table.shape), atol=1e-2):
                raise ValueError(f"{name} holds other numbers than the sinusoids that this architecture has")
        return super().load(theirs)


class Names(Sinusoids):
    """Where nothing is shared, each side has the embeddings under its own name, and the output is the decoder's."""

    OWN = {"encoder.embed_tokens.weight": "embed.weight", "decoder.embed_tokens.weight": "decoder_embed.weight"}

    def load(self, theirs):
        theirs = self.stripped(theirs)
        if self.SHARED in theirs or not theirs.keys() >= self.OWN.keys():
            return super().load(theirs)
        output = theirs.pop("lm_head.weight", None)
        own = {ours: theirs.pop(name) for name, ours in self.OWN.items()}
        if output is not None and not torch.equal(output, own["decoder_embed.weight"]):
            raise ValueError(f"lm_head.weight differs from {self.ALONE}, and this architecture has one matrix for both")
        return super().load(theirs) | own

    def dump(self, ours, *, headed):
        if "decoder_embed.weight" not in ours:
            return super().dump(ours, headed=headed)
        prefix, tables = self.prefix if headed else "", {name: ours.get(own) for name, own in self.OWN.items()}
        rest = {name: tensor for name, tensor in ours.items() if name not in self.OWN.values()}
        found = NameMap.dump(self, rest, headed=headed)
        return found | {prefix + name: tensor for name, tensor in tables.items() if tensor is not None}


HF = Names()
HF_HEADS = {"MarianModel": None, "MarianMTModel": "seq2seq_lm", "MarianForCausalLM": "causal_lm"}
HF_FIELDS = {
    **HF_FIELDS, "share_encoder_decoder_embeddings": "share_embeddings", "decoder_vocab_size": "decoder_vocab_size",
}  # fmt: skip
HF_FIXED = _fairseq.fixed(before=False, last=False, early=False, sinusoids=True)
