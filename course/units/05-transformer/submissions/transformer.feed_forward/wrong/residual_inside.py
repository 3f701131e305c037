"""Your feed-forward part already adds its input; the layer around it will add it again.

In this design the residual connection belongs to the encoder or decoder layer, not to the part it wraps."""

import torch.nn.functional as F
from torch import nn


class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.up = nn.Linear(d_model, d_ff)
        self.down = nn.Linear(d_ff, d_model)

    def forward(self, x):
        return x + self.down(F.relu(self.up(x)))
