"""DeBERTa V2 and V3 (He et al. 2021, arXiv:2111.09543; V2: github.com/microsoft/DeBERTa).

Parent   deberta
Differs  larger distances share logarithmic buckets; distances are projected by the same matrices as tokens
         (`share_att_key`), and normalised; queries, keys and values have a projection each; beside the first layer, a
         convolution over the embeddings (V2 only)
Trained  V2: masked language modelling. V3: replaced-token detection, as ELECTRA, with embeddings of which the
         discriminator only learns a difference
"""

from collections.abc import Sequence
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from ..nn.disentangled_attention import DisentangledAttentionV2, log_bucket
from ..nn.feed_forward import get_activation
from . import _base, bert, deberta
from . import _task_heads as task_heads
from ._base import configuration
from .deberta import HF_FIXED, SELF, DeBERTa, names

__all__ = ["HF_FIXED"]


@configuration
class Config(deberta.Config):
    vocab_size: int = 128100
    d_model: int = 1536
    n_layers: int = 24
    n_heads: int = 24
    d_ff: int = 6144
    position_buckets: int = 256
    norm_rel_ebd: str = "layer_norm"  # or "none"
    share_att_key: bool = True
    conv_kernel_size: int = 3
    conv_groups: int = 1
    conv_activation: str = "gelu"
    talking_head: ClassVar[bool] = False  # type: ignore[misc]  # V1 only


V3: dict[str, Any] = {"conv_kernel_size": 0, "conv_activation": "tanh"}
V3_BASE = {**V3, "d_model": 768, "n_layers": 12, "n_heads": 12, "d_ff": 3072}
PRESETS: dict[str, dict[str, Any]] = {
    "deberta-v2-xlarge": {},
    "deberta-v2-xxlarge": {"n_layers": 48},
    "deberta-v3-xsmall": {**V3_BASE, "d_model": 384, "n_heads": 6, "d_ff": 1536},
    "deberta-v3-small": {**V3_BASE, "n_layers": 6},
    "deberta-v3-base": V3_BASE,
    "deberta-v3-large": {**V3, **bert.LARGE},
    "mdeberta-v3-base": {**V3_BASE, "vocab_size": 251000},
}


class Layer(deberta.Layer):
    def attention(self, c: Config, kinds: Sequence[str], **how: Any) -> DisentangledAttentionV2:
        return DisentangledAttentionV2(c.d_model, c.n_heads, kinds, shared=c.share_att_key, **how)


class FirstLayer(Layer):
    """The first layer with a convolution beside it: both read the embeddings."""

    def __init__(self, c: Config) -> None:
        super().__init__(c)
        size, self.activation = c.conv_kernel_size, get_activation(c.conv_activation)
        self.conv = nn.Conv1d(c.d_model, c.d_model, size, padding=(size - 1) // 2, groups=c.conv_groups)
        self.norm3 = nn.LayerNorm(c.d_model, c.eps)

    def forward(
        self, x: Tensor, mask: Tensor | None, table: Tensor, rows: list[Tensor], query_states: Tensor | None = None
    ) -> Tensor:
        near = self.conv(x.transpose(1, 2)).transpose(1, 2)
        non_padding = 1 if mask is None else mask[..., None]
        near = self.activation(self.drop(near * non_padding))
        return self.norm3(super().forward(x, mask, table, rows, query_states) + near) * non_padding


class Layers(nn.ModuleList):
    def __init__(self, c: Config) -> None:
        super().__init__((Layer if i or c.conv_kernel_size < 1 else FirstLayer)(c) for i in range(c.n_layers))


class MultipleChoiceHead(task_heads.ChoiceHead):
    def __init__(self, c: Config) -> None:
        super().__init__(c)
        self.classifier, self.pool = nn.Linear(c.d_model, 1), deberta.Pooler(c)

    def scores(self, inputs: _base.HeadInputs) -> Tensor:
        return self.classifier(self.drop(self.pool(inputs.states)))


class DeBERTaV2(DeBERTa):
    HEAD_CLASSES: dict[str | None, type[_base.Head]] = {**DeBERTa.HEAD_CLASSES, "multiple_choice": MultipleChoiceHead}
    HEADS = tuple(HEAD_CLASSES)
    LAYERS = Layers

    def __init__(self, config: Config, head: str | None = None) -> None:
        super().__init__(config, head)
        normed = "layer_norm" in config.norm_rel_ebd  # files have it even if nothing is relative
        self.norm_distances = nn.LayerNorm(config.d_model, config.eps) if normed else nn.Identity()

    def table(self, c: Config) -> nn.Embedding:
        """One row for each bucket of distances, if there are buckets."""
        return nn.Embedding(2 * (c.position_buckets if c.position_buckets > 0 else c.max_relative_positions), c.d_model)

    def relative(self, length: int, device: torch.device) -> tuple[Any, Any]:
        """As the parent's, with a norm over the embeddings if the configuration asks for it."""
        table, rows = super().relative(length, device)
        return None if table is None else self.norm_distances(table), rows

    def max_relative_distance(self, length: int) -> int:
        """With buckets: all of them, once a text is longer than the range in which each distance has its own."""
        buckets = self.config.position_buckets
        return super().max_relative_distance(length) if buckets < 1 or length <= buckets // 2 else buckets

    def bucket(self, distance: Tensor) -> Tensor:
        """Signed distances -> their log-spaced buckets, as many in each direction as the table has rows."""
        buckets = self.config.position_buckets
        return distance if buckets < 1 else log_bucket(distance, buckets, self.config.max_relative_positions)


MODEL = DeBERTaV2

DeBERTaV2.PUBLISHED = {
    **deberta.BODY,
    SELF + "query_proj": "layers.{}.attn.q_proj",
    SELF + "key_proj": "layers.{}.attn.k_proj",
    SELF + "value_proj": "layers.{}.attn.v_proj",
    SELF + "pos_key_proj": "layers.{}.attn.k_distance",
    SELF + "pos_query_proj": "layers.{}.attn.q_distance",
    "encoder.LayerNorm": "norm_distances",
    "encoder.conv.conv": "layers.0.conv",
    "encoder.conv.LayerNorm": "layers.0.norm3",
}
HF = names(Config(), DeBERTaV2.PUBLISHED)
HF_HEADS = {
    **{name.replace("Deberta", "DebertaV2"): head for name, head in deberta.HF_HEADS.items()},
    "DebertaV2ForMultipleChoice": "multiple_choice",
}
HF_FIELDS = {
    **deberta.HF_FIELDS, "position_buckets": "position_buckets", "norm_rel_ebd": "norm_rel_ebd",
    "share_att_key": "share_att_key", "conv_kernel_size": "conv_kernel_size", "conv_groups": "conv_groups",
    "conv_act": "conv_activation",
}  # fmt: skip
del HF_FIELDS["talking_head"]
HF_UNUSED = {*deberta.HF_UNUSED, "attention_head_size"}  # it must have the value that it would have by default
HF_DEFAULTS = {
    "relative_attention": False,
    "pos_att_type": (),
    "position_biased_input": True,
    "position_buckets": -1,
    "norm_rel_ebd": "none",
    "share_att_key": False,
    "conv_kernel_size": 0,
    "conv_activation": "tanh",
}  # transformers' defaults, for fields that a file omits
