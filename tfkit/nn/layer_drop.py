"""LayerDrop (Fan et al. 2019, arXiv:1909.11556): a deep stack that learns to work without any one of its layers."""

from collections.abc import Iterator
from typing import Any

import torch
from torch import nn


class LayerDrop(nn.ModuleList):
    """A list of layers. In training, iteration skips each layer with probability `rate`."""

    def __init__(self, layers: list[Any], rate: float = 0.0) -> None:
        super().__init__(layers)
        self.rate = rate

    def __iter__(self) -> Iterator[nn.Module]:
        layers = super().__iter__()
        if not self.training or not self.rate:
            return layers
        return (layer for layer in layers if torch.rand(()) >= self.rate)
