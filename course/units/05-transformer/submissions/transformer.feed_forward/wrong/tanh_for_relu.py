"""Your activation is tanh, which saturates; the transformer uses ReLU.

tanh belongs to the recurrent unit. Compare the two for large inputs."""

import torch.nn.functional as F
from torch import nn


class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.up = nn.Linear(d_model, d_ff)
        self.down = nn.Linear(d_ff, d_model)

    def forward(self, x):
        return self.down(self.up(x).tanh())
