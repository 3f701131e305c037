"""You normalise the input inside the feed-forward part; normalisation belongs to the layer around it.

In the 2017 transformer, the part receives exactly what the layer gives it."""

import torch.nn.functional as F
from torch import nn


class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.up = nn.Linear(d_model, d_ff)
        self.down = nn.Linear(d_ff, d_model)

    def forward(self, x):
        return self.down(F.relu(self.up(F.layer_norm(x, x.shape[-1:]))))
