"""There is nothing non-linear between your two projections, so together they are one matrix.

Two linear maps in a row can be multiplied into one; the wide layer in the middle then adds nothing."""

import torch.nn.functional as F
from torch import nn


class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.up = nn.Linear(d_model, d_ff)
        self.down = nn.Linear(d_ff, d_model)

    def forward(self, x):
        return self.down(self.up(x))
