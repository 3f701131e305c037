"""BERT for generation (Rothe et al. 2019, arXiv:1907.12461): the halves of BERT2BERT, published alone.

Parent   bert
Differs  no sentence types and no pooler; the head is the tied embedding matrix and a bias, without the layer
         that BERT has before it. An encoder is bidirectional; a decoder (is_decoder, or head "causal_lm") is causal,
         and with add_cross_attention it attends to an encoder's states
Trained  from BERT's weights or from random ones, and then within an EncoderDecoder on summarisation,
         translation and sentence splitting
"""

from typing import Any, ClassVar

from ..namemap import NameMap
from . import _base, bert
from ._base import LABEL_FIELDS, configuration
from .bert import BERT, HF_DEFAULTS

__all__ = ["HF_DEFAULTS"]  # the same as BERT's


@configuration
class Config:
    vocab_size: int = 50358
    d_model: int = 1024
    n_layers: int = 24
    n_heads: int = 16
    d_ff: int = 4096
    max_length: int = 512
    activation: str = "gelu"
    dropout: float = 0.1
    attn_dropout: float = 0.1
    eps: float = 1e-12
    is_decoder: bool | None = None  # causal attention; by default as the head needs it
    add_cross_attention: bool = False  # for a decoder
    tie_word_embeddings: bool = True
    bos_token_id: int | None = 2
    eos_token_id: int | None = 1
    pad_token_id: int | None = 0

    n_types: ClassVar[int] = 0  # BERT's layers and heads read it, but it is not a field
    head_dropout: ClassVar[float | None] = None


PRESETS: dict[str, dict[str, Any]] = {"bert_for_seq_generation_L-24_bbc_encoder": {}}


class CausalLMHead(_base.ShiftedLabels, _base.TiedLM):
    """Predicts the next token."""


class BertGeneration(BERT):
    HEAD_CLASSES = {None: _base.NoHead, "causal_lm": CausalLMHead}
    HEADS = tuple(HEAD_CLASSES)


MODEL = BertGeneration

HF = NameMap(
    {
        published: local
        for published, local in bert.BODY.items()
        if "token_type" not in published and "pooler" not in published
    },
    prefix="bert.",
    heads={"lm_head.bias": "task_head.bias"},
    tied={"lm_head.decoder.weight": "embeddings.word_embeddings.weight", "lm_head.decoder.bias": "lm_head.bias"},
    constant=bert.CONSTANT,
)
HF_HEADS = {"BertGenerationEncoder": None, "BertGenerationDecoder": "causal_lm"}
HF_FIELDS = {
    published: local
    for published, local in bert.HF_FIELDS.items()
    if local not in (*LABEL_FIELDS, "n_types", "head_dropout", "position_type")
}
HF_FIXED = {"position_embedding_type": "absolute"}
HF_UNUSED = {"initializer_range"}
