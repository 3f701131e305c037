"""Convolutions whose kernel is computed from the input (Jiang et al. 2020, ConvBERT, arXiv:2008.02496)."""

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from .attention import attend, merge_heads, split_heads


def span_dynamic_conv(value: Tensor, kernel_logits: Tensor) -> Tensor:
    """A weighted sum of neighbours, with different weights at every position (Jiang et al. 2020, 3.2; Wu et al. 2019).

    value [B,L,D], kernel_logits [B,L,W], W odd -> [B,L,D] (or [...,L,D] and [...,L,W]); the weights of a position are
    a softmax over its W logits; weight w of position i is for value[i + w - W//2], or for zero beyond either end; time
    and memory grow as L times W
    """
    length, kernel_size = value.size(-2), kernel_logits.size(-1)
    kernel = kernel_logits.softmax(-1)
    padded = F.pad(value, (0, 0, kernel_size // 2, kernel_size // 2))  # [...,L+W-1,D]
    # a few sums over the whole sequence: four times as fast as cutting out every span and multiplying matrices
    near: Any = (kernel[..., w : w + 1] * padded[..., w : w + length, :] for w in range(kernel_size))
    return sum(near)


class SeparableConv1d(nn.Module):
    """A depthwise convolution over the span around each position, followed by a pointwise one."""

    def __init__(self, width: int, out: int, size: int) -> None:
        super().__init__()
        self.depthwise = nn.Conv1d(width, width, size, groups=width, padding=size // 2, bias=False)
        self.pointwise = nn.Conv1d(width, out, 1, bias=False)
        self.bias = nn.Parameter(torch.zeros(out, 1))

    def forward(self, x: Tensor) -> Tensor:
        """x [B,L,E] -> [B,L,A]"""
        near = self.depthwise(x.transpose(1, 2)).transpose(1, 2)
        return F.linear(near, self.pointwise.weight.squeeze(-1), self.bias.squeeze(-1))


class MixedAttention(nn.Module):
    """Attention heads next to convolution heads over the neighbourhood; each kind has half the width.

    conv_kernel_size: the width of the kernels. Raises ValueError if it is even, or 2 * n_heads does not divide d_model.
    """

    def __init__(self, d_model: int, n_heads: int, conv_kernel_size: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.n_heads, self.dropout = n_heads, dropout
        if d_model % (2 * n_heads) or conv_kernel_size % 2 == 0:
            wrong = f"d_model={d_model}, conv_kernel_size={conv_kernel_size}"
            raise ValueError(f"{wrong}: needed are a multiple of 2 * {n_heads} heads, and an odd number")
        half = d_model // 2
        self.q_proj, self.k_proj, self.v_proj = (nn.Linear(d_model, half) for _ in range(3))
        self.span, self.near = SeparableConv1d(d_model, half, conv_kernel_size), nn.Linear(d_model, half)
        self.kernel = nn.Linear(half, self.n_heads * conv_kernel_size)
        self.o_proj = nn.Linear(d_model, d_model)

    def forward(self, x: Tensor, *, mask: Tensor | None = None) -> Tensor:
        """x [B,L,E], mask broadcastable to [B,H,L,L] -> [B,L,E]"""
        queries = self.q_proj(x)
        q, k, v, near, kernel = (
            split_heads(y, self.n_heads)
            for y in (queries, self.k_proj(x), self.v_proj(x), self.near(x), self.kernel(self.span(x) * queries))
        )
        far = attend(q, k, v, mask=mask, dropout=self.dropout if self.training else 0.0)
        return self.o_proj(merge_heads(torch.cat([far, span_dynamic_conv(near, kernel)], 1)))
