"""You apply the activation a second time, at the end.

What leaves the layer is added to the residual stream, and must be able to lower a value as well as raise it."""

import torch.nn.functional as F
from torch import nn


class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.up = nn.Linear(d_model, d_ff)
        self.down = nn.Linear(d_ff, d_model)

    def forward(self, x):
        return F.relu(self.down(F.relu(self.up(x))))
