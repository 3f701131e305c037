"""The activation functions that published configurations name, computed as in transformers."""

import math
from collections.abc import Callable
from functools import partial

import torch
import torch.nn.functional as F


def quick_gelu(x: torch.Tensor) -> torch.Tensor:
    """x · sigmoid(1.702 x), an approximation of the GELU (Hendrycks and Gimpel 2016, arXiv:1606.08415, section 2)."""
    return x * torch.sigmoid(1.702 * x)


def gelu_10(x: torch.Tensor) -> torch.Tensor:
    """The GELU, clipped at 10 for quantisation to integers (Wu et al. 2020, arXiv:2004.09602)."""
    return F.gelu(x).clamp(-10, 10)


def laplace(x: torch.Tensor) -> torch.Tensor:
    """The distribution function of a Gaussian, which approximates the squared ReLU (Ma et al. 2022,
    arXiv:2209.10655)."""
    return 0.5 * (1.0 + torch.erf((x - 0.707107) / (0.282095 * math.sqrt(2.0))))


def relu2(x: torch.Tensor) -> torch.Tensor:
    """The square of a ReLU (So et al. 2021, arXiv:2109.08668)."""
    return F.relu(x).square()


def sqrtsoftplus(x: torch.Tensor) -> torch.Tensor:
    """The square root of a softplus."""
    return F.softplus(x).sqrt()


def linear(x: torch.Tensor) -> torch.Tensor:
    """x itself."""
    return x


ACTIVATIONS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    **dict.fromkeys(("gelu", "gelu_python"), F.gelu),
    **dict.fromkeys(
        ("gelu_new", "gelu_fast", "gelu_accurate", "gelu_pytorch_tanh", "gelu_python_tanh"),
        partial(F.gelu, approximate="tanh"),  # the names differ only in rounding
    ),
    "quick_gelu": quick_gelu, "gelu_10": gelu_10, "relu": F.relu, "relu2": relu2, "relu6": F.relu6,
    "leaky_relu": F.leaky_relu, "silu": F.silu, "swish": F.silu, "mish": F.mish, "hardswish": F.hardswish,
    "sigmoid": torch.sigmoid, "tanh": torch.tanh, "laplace": laplace, "sqrtsoftplus": sqrtsoftplus, "linear": linear,
}  # fmt: skip
