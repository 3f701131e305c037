"""Your feed-forward part lets positions look at each other; it must treat each position alone.

Attention is the only place where positions meet. Change one token and see which outputs move."""

import torch.nn.functional as F
from torch import nn


class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.up = nn.Linear(d_model, d_ff)
        self.down = nn.Linear(d_ff, d_model)

    def forward(self, x):
        hidden = F.relu(self.up(x))
        return self.down(hidden.mean(1, keepdim=True).expand_as(hidden))
