"""The position-wise feed-forward network (Vaswani et al. 2017, 3.3)."""

import torch.nn.functional as F
from torch import nn


class FeedForward(nn.Module):
    """Wider, bent, and back again, at every position alone: down(activation(up(x))).

    Submodules up: nn.Linear(d_model, d_ff), down: nn.Linear(d_ff, d_model).
    """

    def __init__(self, d_model, d_ff, activation=F.relu, dropout=0.0):
        super().__init__()
        self.up = nn.Linear(d_model, d_ff)
        self.down = nn.Linear(d_ff, d_model)
        self.activation = activation
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        """x [B,L,E] -> [B,L,E]"""
        return self.down(self.dropout(self.activation(self.up(x))))
