"""LayerDrop (Fan et al. 2019, arXiv:1909.11556): a deep stack that learns to do without any one of its layers."""

import torch
from torch import nn


class LayerDrop(nn.ModuleList):
    """A list of layers. Who iterates over it in training misses each layer with probability `rate`."""

    def __init__(self, layers, rate=0.0):
        super().__init__(layers)
        self.rate = rate

    def __iter__(self):
        layers = super().__iter__()
        if not self.training or not self.rate:
            return layers
        return (layer for layer in layers if torch.rand(()) >= self.rate)
