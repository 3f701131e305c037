"""ConvBERT (Jiang et al. 2020, arXiv:2008.02496): half of the heads become convolutions, as many heads attend locally.

Parent   electra (by idea)
Differs  of n_heads, n_heads / head_ratio remain, over half the width; beside each is a convolution over
         `conv_kernel_size` neighbours whose weights are made, at each position, from the query times a summary of the
         span around it (span-based dynamic convolution); the feed-forward's layers may be cut in `n_groups` groups
Trained  replaced-token detection, as ELECTRA
"""

from typing import Any

from torch import Tensor, nn

from ..namemap import NameMap
from ..nn.dynamic_conv import MixedAttention
from ..nn.feed_forward import GroupedLinear
from . import _base, bert, electra
from . import _task_heads as task_heads
from ._base import configuration
from .bert import BERT, HF_UNUSED

__all__ = ["HF_UNUSED"]


@configuration
class Config(bert.Config):
    d_embed: int = 768
    head_ratio: int = 2
    conv_kernel_size: int = 9
    n_groups: int = 1
    bos_token_id: int | None = 0
    eos_token_id: int | None = 2
    pad_token_id: int | None = 1


PRESETS: dict[str, dict[str, Any]] = {
    "conv-bert-base": {},
    "conv-bert-medium-small": {"d_embed": 128, "d_model": 384, "n_heads": 8, "d_ff": 1536, "n_groups": 2},
    "conv-bert-small": {"d_embed": 128, "d_model": 256, "n_heads": 4, "d_ff": 1024},
}


class Layer(bert.PostNorm):
    def __init__(self, c: Config) -> None:
        super().__init__(c)
        heads = max(c.n_heads // c.head_ratio, 1)
        self.attn = MixedAttention(c.d_model, heads, c.conv_kernel_size, c.attn_dropout)
        if c.n_groups > 1:
            self.ff.up = GroupedLinear(c.d_model, c.d_ff, c.n_groups)  # type: ignore[assignment]
            self.ff.down = GroupedLinear(c.d_ff, c.d_model, c.n_groups)  # type: ignore[assignment]

    def forward(self, x: Tensor, mask: Tensor | None) -> Tensor:
        """x [B,L,E], mask bool [B,1,1,L] or None -> [B,L,E]"""
        return self.after_attention(x, self.attn(x, mask=mask))


class Layers(nn.ModuleList):
    def __init__(self, c: Config) -> None:
        super().__init__(Layer(c) for _ in range(c.n_layers))


class SequenceClassificationHead(task_heads.ClsTokenClassificationHead):
    def __init__(self, c: Config) -> None:
        super().__init__(c, c.activation)


class MultipleChoiceHead(task_heads.ChoiceHead):
    """Reads the last position, even if it is padding, as in the published code."""

    def __init__(self, c: Config) -> None:
        super().__init__(c)
        self.classifier = nn.Linear(c.d_model, 1)

    def scores(self, inputs: _base.HeadInputs) -> Tensor:
        return self.classifier(inputs.states[:, -1])


class ConvBERT(BERT):
    HEAD_CLASSES = {
        None: _base.NoHead, "masked_lm": electra.MaskedLMHead, **bert.TASK_HEADS,
        "sequence_classification": SequenceClassificationHead, "multiple_choice": MultipleChoiceHead,
    }  # fmt: skip
    HEADS = tuple(HEAD_CLASSES)
    EMBEDDINGS = electra.Embeddings
    LAYERS = Layers


MODEL = ConvBERT

SELF = "encoder.layer.{}.attention.self."
HF = NameMap(
    {
        **electra.HF.table,
        SELF + "key_conv_attn_layer": "layers.{}.attn.span",
        SELF + "key_conv_attn_layer.depthwise": "layers.{}.attn.span.depthwise",
        SELF + "key_conv_attn_layer.pointwise": "layers.{}.attn.span.pointwise",
        SELF + "conv_kernel_layer": "layers.{}.attn.kernel",
        SELF + "conv_out_layer": "layers.{}.attn.near",
    },
    prefix="convbert.",
    heads=electra.HF.heads,
    tied=electra.HF.tied,
    constant=bert.CONSTANT,
)
HF_HEADS = {"ConvBertModel": None, "ConvBertForMaskedLM": "masked_lm", **bert.task_classes("ConvBert")}
HF_FIELDS = {
    **bert.ENCODER_FIELDS, "embedding_size": "d_embed", "head_ratio": "head_ratio", "num_groups": "n_groups",
    "conv_kernel_size": "conv_kernel_size",
}  # fmt: skip
HF_FIXED = {**bert.ENCODER_FIXED, "summary_type": "last", "summary_use_proj": False, "summary_activation": None}
