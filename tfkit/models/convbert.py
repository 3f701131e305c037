"""ConvBERT (Jiang et al. 2020, arXiv:2008.02496): most heads look nearby; so half of them become convolutions.

Parent   electra
Differs  of n_heads, n_heads / head_ratio remain, over half the width; beside each stands a convolution over
         `conv_kernel_size` neighbours whose weights are made, at each position, from the query times a summary of the
         span round it (span-based dynamic convolution); the feed-forward's layers may be cut in `n_groups` groups
Trained  replaced-token detection, as ELECTRA
"""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn

from ..namemap import NameMap
from ..nn import attend, merge_heads, span_dynamic_conv, split_heads
from . import _heads as heads
from . import bert, electra
from ._base import activation
from .bert import BERT, HF_UNUSED

__all__ = ["HF_UNUSED"]


@dataclass(frozen=True, kw_only=True)
class Config(bert.Config):
    d_embed: int = 768
    head_ratio: int = 2
    conv_kernel_size: int = 9
    n_groups: int = 1
    bos_token_id: int | None = 0
    eos_token_id: int | None = 2
    pad_token_id: int | None = 1


PRESETS: dict[str, dict] = {
    "conv-bert-base": {},
    "conv-bert-medium-small": {"d_embed": 128, "d_model": 384, "n_heads": 8, "d_ff": 1536, "n_groups": 2},
    "conv-bert-small": {"d_embed": 128, "d_model": 256, "n_heads": 4, "d_ff": 1024},
}


class SpanKeys(nn.Module):
    """A summary of the span round each position: a convolution in each column, and then a mixture of the columns."""

    def __init__(self, width, out, size):
        super().__init__()
        self.depthwise = nn.Conv1d(width, width, size, groups=width, padding=size // 2, bias=False)
        self.pointwise = nn.Conv1d(width, out, 1, bias=False)
        self.bias = nn.Parameter(torch.zeros(out, 1))

    def forward(self, x):
        """x [B,L,E] -> [B,L,A]"""
        near = self.depthwise(x.transpose(1, 2)).transpose(1, 2)
        return F.linear(near, self.pointwise.weight.squeeze(-1), self.bias.squeeze(-1))


class MixedAttention(nn.Module):
    """Heads that look everywhere beside heads that look round them."""

    def __init__(self, c):
        super().__init__()
        self.n_heads, self.dropout = max(c.n_heads // c.head_ratio, 1), c.attn_dropout
        if c.d_model % (2 * self.n_heads) or c.conv_kernel_size % 2 == 0:
            wrong = f"d_model={c.d_model}, conv_kernel_size={c.conv_kernel_size}"
            raise ValueError(f"{wrong}: needed are a multiple of 2 * {self.n_heads} heads, and an odd number")
        half = c.d_model // 2
        self.q_proj, self.k_proj, self.v_proj = (nn.Linear(c.d_model, half) for _ in range(3))
        self.span, self.near = SpanKeys(c.d_model, half, c.conv_kernel_size), nn.Linear(c.d_model, half)
        self.kernel = nn.Linear(half, self.n_heads * c.conv_kernel_size)
        self.o_proj = nn.Linear(c.d_model, c.d_model)

    def forward(self, x, *, mask=None):
        """x [B,L,E], mask broadcastable to [B,H,L,L] -> [B,L,E]"""
        queries = self.q_proj(x)
        q, k, v, near, kernel = (
            split_heads(y, self.n_heads)
            for y in (queries, self.k_proj(x), self.v_proj(x), self.near(x), self.kernel(self.span(x) * queries))
        )
        far = attend(q, k, v, mask=mask, dropout=self.dropout if self.training else 0.0)
        return self.o_proj(merge_heads(torch.cat([far, span_dynamic_conv(near, kernel)], 1)))


class GroupedLinear(nn.Module):
    """One matrix for each part of the columns."""

    def __init__(self, width, out, groups):
        super().__init__()
        self.weight = nn.Parameter(0.02 * torch.randn(groups, width // groups, out // groups))
        self.bias = nn.Parameter(torch.zeros(out))

    def forward(self, x):
        return (
            torch.einsum("...gi,gio->...go", x.unflatten(-1, self.weight.shape[:2]), self.weight).flatten(-2)
            + self.bias
        )


class Layer(bert.Layer):
    def __init__(self, c):
        super().__init__(c)
        self.attn = MixedAttention(c)  # type: ignore[assignment]
        if c.n_groups > 1:
            self.ff.up = GroupedLinear(c.d_model, c.d_ff, c.n_groups)  # type: ignore[assignment]
            self.ff.down = GroupedLinear(c.d_ff, c.d_model, c.n_groups)  # type: ignore[assignment]


class Layers(nn.ModuleList):
    def __init__(self, c):
        super().__init__(Layer(c) for _ in range(c.n_layers))


class SequenceClassification(electra.SequenceClassification):
    def __init__(self, c):
        super().__init__(c)
        self.bend = activation(c.activation)

    def scores(self, seen):
        return self.score(self.drop(self.bend(self.mix(self.drop(seen.states[:, 0])))))


class MultipleChoice(heads.MultipleChoice):
    """Reads the last position, padding or not, as it was published."""

    POOLED = False

    def scores(self, seen):
        return self.classifier(seen.states[:, -1])


class ConvBERT(BERT):
    TOPS = {
        None: heads.Bare, "masked_lm": electra.MaskedLM, **bert.TASKS,
        "sequence_classification": SequenceClassification, "multiple_choice": MultipleChoice,
    }  # fmt: skip
    HEADS = tuple(TOPS)
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
    **bert.HF_FIELDS, "embedding_size": "d_embed", "head_ratio": "head_ratio", "num_groups": "n_groups",
    "conv_kernel_size": "conv_kernel_size",
}  # fmt: skip
HF_FIXED = {**bert.HF_FIXED, "summary_type": "last", "summary_use_proj": False, "summary_activation": None}
