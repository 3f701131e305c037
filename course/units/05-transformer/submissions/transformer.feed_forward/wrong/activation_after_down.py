"""Your activation comes after the second projection instead of between the two.

The layer's output has to be able to be negative: it is added to the residual stream."""

import torch.nn.functional as F
from torch import nn


class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.up = nn.Linear(d_model, d_ff)
        self.down = nn.Linear(d_ff, d_model)

    def forward(self, x):
        return F.relu(self.down(self.up(x)))
