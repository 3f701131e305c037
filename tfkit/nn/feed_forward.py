"""The position-wise feed-forward network (Vaswani et al. 2017, 3.3)."""

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class FeedForward(nn.Module):
    """The same two layers at every position by itself: down(dropout(activation(up(x)))).

    Submodules up: nn.Linear(d_model, d_ff), down: nn.Linear(d_ff, d_model).
    activation: a function of a tensor; dropout: the share of the inner values that training sets to 0.
    """

    def __init__(self, d_model: int, d_ff: int, activation: Callable[..., Any] = F.relu, dropout: float = 0.0) -> None:
        super().__init__()
        self.up = nn.Linear(d_model, d_ff)
        self.down = nn.Linear(d_ff, d_model)
        self.activation = activation
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        """x [B,L,E] -> [B,L,E]"""
        return self.down(self.dropout(self.activation(self.up(x))))


class GatedFeedForward(nn.Module):
    """A feed-forward network whose first product is gated by a second: down(activation(gate(x)) · up(x)).

    With SiLU this is SwiGLU, with GELU GEGLU (Shazeer 2020, arXiv:2002.05202). Submodules gate, up: nn.Linear(d_model,
    d_ff), down: nn.Linear(d_ff, d_model). dropout: the share of the inner values that training sets to 0.
    """

    def __init__(
        self, d_model: int, d_ff: int, activation: Callable[..., Any] = F.silu, bias: bool = False, dropout: float = 0.0
    ) -> None:
        super().__init__()
        self.gate = nn.Linear(d_model, d_ff, bias=bias)
        self.up = nn.Linear(d_model, d_ff, bias=bias)
        self.down = nn.Linear(d_ff, d_model, bias=bias)
        self.activation = activation
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        """x [...,E] -> [...,E]"""
        return self.down(self.dropout(self.activation(self.gate(x)) * self.up(x)))


class GroupedLinear(nn.Module):
    """A linear layer cut in groups: one matrix for each part of the columns (Jiang et al. 2020, 3.3)."""

    def __init__(self, width: int, out: int, groups: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(0.02 * torch.randn(groups, width // groups, out // groups))
        self.bias = nn.Parameter(torch.zeros(out))

    def forward(self, x: Tensor) -> Tensor:
        """x [...,width] -> [...,out]"""
        parts = torch.einsum("...gi,gio->...go", x.unflatten(-1, self.weight.shape[:2]), self.weight)
        return parts.flatten(-2) + self.bias


def chunked_feed_forward(f: Callable[..., Any], x: Tensor, chunk: int) -> Tensor:
    """f on a few positions at a time, as it needs its width only where it works (Kitaev et al. 2020, section 3).

    x [B,L,E], chunk: positions at a time -> f(x) [B,L,E]
    """
    return torch.cat([f(part) for part in x.split(chunk, dim=1)], dim=1)
