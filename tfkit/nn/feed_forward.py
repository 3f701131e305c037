"""The position-wise feed-forward network (Vaswani et al. 2017, 3.3), and the activation functions that published
configurations name, computed as in transformers."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from .in_place import multiply


class FeedForward(nn.Module):
    """The same two layers applied to every position independently: down(dropout(activation(up(x)))).

    Submodules up: nn.Linear(d_model, d_ff), down: nn.Linear(d_ff, d_model).
    activation: a function of a tensor; dropout: the share of inner values that training sets to 0.
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
        return self.down(self.dropout(multiply(self.activation(self.gate(x)), self.up(x))))


class GroupedLinear(nn.Module):
    """A linear layer in groups: one matrix for each group of columns (Jiang et al. 2020, 3.3)."""

    def __init__(self, width: int, out: int, groups: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(0.02 * torch.randn(groups, width // groups, out // groups))
        self.bias = nn.Parameter(torch.zeros(out))

    def forward(self, x: Tensor) -> Tensor:
        """x [...,width] -> [...,out]"""
        parts = torch.einsum("...gi,gio->...go", x.unflatten(-1, self.weight.shape[:2]), self.weight)
        return parts.flatten(-2) + self.bias


def chunked_feed_forward(f: Callable[..., Any], x: Tensor, chunk: int) -> Tensor:
    """f applied to a few positions at a time, to hold fewer wide inner states (Kitaev et al. 2020, section 3).

    x [B,L,E], chunk: positions at a time -> f(x) [B,L,E]
    """
    return torch.cat([f(part) for part in x.split(chunk, dim=1)], dim=1)


def quick_gelu(x: Tensor) -> Tensor:
    """x · sigmoid(1.702 x), an approximation of the GELU (Hendrycks and Gimpel 2016, arXiv:1606.08415, section 2)."""
    return x * torch.sigmoid(1.702 * x)


def gelu_10(x: Tensor) -> Tensor:
    """The GELU, clipped at 10 for quantisation to integers (Wu et al. 2020, arXiv:2004.09602)."""
    return F.gelu(x).clamp(-10, 10)


def laplace(x: Tensor) -> Tensor:
    """The distribution function of a Gaussian, which approximates the squared ReLU (Ma et al. 2022,
    arXiv:2209.10655)."""
    return 0.5 * (1.0 + torch.erf((x - 0.707107) / (0.282095 * math.sqrt(2.0))))


def relu2(x: Tensor) -> Tensor:
    """The square of a ReLU (So et al. 2021, arXiv:2109.08668)."""
    return F.relu(x).square()


def sqrtsoftplus(x: Tensor) -> Tensor:
    """The square root of a softplus."""
    return F.softplus(x).sqrt()


def linear(x: Tensor) -> Tensor:
    """x itself, as a tensor of its own like the result of every other activation."""
    return x.clone()


ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    **dict.fromkeys(("gelu", "gelu_python"), F.gelu),
    **dict.fromkeys(
        ("gelu_new", "gelu_fast", "gelu_accurate", "gelu_pytorch_tanh", "gelu_python_tanh"),
        partial(F.gelu, approximate="tanh"),  # the names differ only in rounding
    ),
    "quick_gelu": quick_gelu, "gelu_10": gelu_10, "relu": F.relu, "relu2": relu2, "relu6": F.relu6,
    "leaky_relu": F.leaky_relu, "silu": F.silu, "swish": F.silu, "mish": F.mish, "hardswish": F.hardswish,
    "sigmoid": torch.sigmoid, "tanh": torch.tanh, "laplace": laplace, "sqrtsoftplus": sqrtsoftplus, "linear": linear,
}  # fmt: skip


def get_activation(name: Any) -> Callable[[Tensor], Tensor]:
    """The activation function with this published name. Raises ValueError with the known names."""
    if not isinstance(name, str) or name not in ACTIVATIONS:
        raise ValueError(f"activation {name!r} is not one of {', '.join(ACTIVATIONS)}")
    return ACTIVATIONS[name]
