"""Your activation is GELU; the transformer of 2017 uses ReLU.

GELU came with GPT and BERT. It lets a little of the negative side through; look at what happens to inputs below zero."""

import torch.nn.functional as F
from torch import nn


class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.up = nn.Linear(d_model, d_ff)
        self.down = nn.Linear(d_ff, d_model)

    def forward(self, x):
        return self.down(F.gelu(self.up(x)))
