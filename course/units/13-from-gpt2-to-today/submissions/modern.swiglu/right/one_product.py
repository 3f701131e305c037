import torch
import torch.nn.functional as F
from torch import nn


class SwiGLU(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.gate = nn.Linear(d_model, d_ff, bias=False)
        self.up = nn.Linear(d_model, d_ff, bias=False)
        self.down = nn.Linear(d_ff, d_model, bias=False)

    def forward(self, x):
        both = x @ torch.cat([self.gate.weight, self.up.weight]).T
        gate, up = both.chunk(2, dim=-1)
        return (F.silu(gate) * up) @ self.down.weight.T
