"""BERT2BERT (Rothe et al. 2019, arXiv:1907.12461): an encoder and a decoder that were trained separately.

Parent   transformer (by idea)
Differs  its halves are other models of this zoo: any encoder, and a decoder made of BERT, GPT-2, BART or a child of
         these: causal, with cross-attention, the only part with new weights. tie_encoder_decoder: both share all other
         weights ("BERTShare"). A matrix between the two if their widths differ
Trained  on pairs of sequences, from the weights of its parts: `from_parts`
"""

from dataclasses import asdict, field
from typing import Any

from torch import Tensor, nn

from .. import registry
from ..namemap import NameMap, map_of
from ..nn.cache import Cache
from ..objectives.cross_entropy import cross_entropy
from ._base import Model, configuration
from ._checks import can_read_values
from ._decoders import decoder
from ._output import Output
from ._seq2seq import seq2seq_forward, shifted_labels
from ._tied_parts import TiedParts, tie


@configuration
class Config:
    """encoder, decoder: {"architecture": a name or a published size, **fields of its Config}"""

    encoder: dict[str, Any] = field(default_factory=lambda: {"architecture": "bert"})
    decoder: dict[str, Any] = field(default_factory=lambda: {"architecture": "bert"})
    tie_encoder_decoder: bool = False
    bos_token_id: int | None = None
    pad_token_id: int | None = 0
    decoder_start_token_id: int | None = 101
    eos_token_id: int | None = 102


ROBERTA = {"pad_token_id": 1, "decoder_start_token_id": 0, "eos_token_id": 2}


def pair(encoder: str, decoder: str, **more: Any) -> dict[str, Any]:
    """The fields of a preset; fields that it omits have the defaults of the parts."""
    return {"encoder": {"architecture": encoder}, "decoder": {"architecture": decoder}, **more}


PRESETS: dict[str, dict[str, Any]] = {
    "bert2bert": pair("bert-base-uncased", "bert-base-uncased"),
    "bert-share": pair("bert-base-uncased", "bert-base-uncased", tie_encoder_decoder=True),
    "roberta2roberta": pair("roberta-base", "roberta-base", **ROBERTA),
    "roberta-share": pair("roberta-base", "roberta-base", tie_encoder_decoder=True, **ROBERTA),
    "bert2gpt": pair("bert-base-uncased", "gpt2", decoder_start_token_id=50256, eos_token_id=50256),
}


class EncoderDecoder(Model):
    HEADS = (None, "seq2seq_lm")
    encoder: Any
    decoder: Any
    forward, decoder_ids = seq2seq_forward, shifted_labels

    def __init__(self, config: Config, head: str | None = None) -> None:
        super().__init__(config, head or "seq2seq_lm")
        (_, reads, its), (_, writes, other) = (
            registry.resolve_submodel(config.encoder),
            registry.resolve_submodel(config.decoder),
        )
        self.encoder, self.decoder = reads.MODEL(its), decoder(writes)(other)
        self.project = nn.Linear(its.d_model, other.d_model) if its.d_model != other.d_model else None
        shared = tie(self.encoder, self.decoder) if config.tie_encoder_decoder else ()
        names = {
            "encoder": ("encoder", map_of(self.encoder, reads.HF), False),
            "decoder": ("decoder", map_of(self.decoder, writes.HF), True),
        }
        self.names = TiedParts(names, HF, shared)

    @property
    def last_position(self) -> int:
        return self.decoder.last_position

    @property
    def position_limit(self) -> int | None:
        return self.decoder.position_limit

    def encode(self, input_ids: Tensor, attention_mask: Tensor | None = None) -> Output:
        return Output(last_hidden_state=self.encoder(input_ids, attention_mask).last_hidden_state)

    def decode(
        self, ids: Tensor, memory: Tensor, mask: Tensor | None, memory_mask: Tensor | None, cache: Cache | None
    ) -> Tensor:
        if self.project is not None and not (
            cache is not None and cache.cross_attention
        ):  # with a cache the source is not encoded again
            memory = self.project(memory)
        return self.decoder.decode(ids, memory, mask, memory_mask, cache)

    def score(self, x: Tensor) -> Tensor:
        return self.decoder.score(x)

    def loss(self, logits: Tensor, labels: Tensor) -> Tensor:
        """logits [B,T,V], labels [B,T] -> scalar"""
        return cross_entropy(logits, labels)

    def read_mask(self, ids: Tensor) -> Tensor | None:
        """Masks padding anywhere in the labels; without padding None, so that the fused kernel can be used."""
        non_padding = ids != self.config.pad_token_id
        return None if can_read_values(non_padding) and bool(non_padding.all()) else non_padding


MODEL = EncoderDecoder


def from_parts(encoder: Any, decoder: Any, **fields: Any) -> EncoderDecoder:
    """A model with the weights of two trained models: one without a head, and a language model (BERT's head
    "masked_lm", GPT-2's "causal_lm"); cross-attention is initialised afresh. fields: of this Config. Raises ValueError
    as the model does."""

    def part(model: Any) -> dict[str, Any]:
        return {"architecture": registry.name_of(model), **asdict(model.config)}

    model = EncoderDecoder(Config(encoder=part(encoder), decoder=part(decoder), **fields))
    model.encoder.load_state_dict(encoder.state_dict())
    model.decoder.load_state_dict({**model.decoder.state_dict(), **decoder.state_dict()})
    return model


HF = NameMap({"enc_to_dec_proj": "project"})
HF_PARTS = {"encoder": {}, "decoder": {"is_decoder": True, "add_cross_attention": True}}
HF_HEADS = {"EncoderDecoderModel": "seq2seq_lm"}
HF_FIELDS = {
    name: name
    for name in ("tie_encoder_decoder", "bos_token_id", "pad_token_id", "decoder_start_token_id", "eos_token_id")
}
HF_UNUSED = {"vocab_size", "tie_word_embeddings"}  # the decoder has its own
HF_FIXED: dict[str, Any] = {}
