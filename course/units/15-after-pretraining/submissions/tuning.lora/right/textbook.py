import torch
from torch import nn


class LoRALinear(nn.Module):
    def __init__(self, base, rank, alpha):
        super().__init__()
        self.base = base
        for parameter in self.base.parameters():
            parameter.requires_grad = False
        weight = base.weight
        out, columns = weight.shape
        start = torch.randn(rank, columns, dtype=weight.dtype, device=weight.device)
        self.a = nn.Parameter(start / columns**0.5)
        self.b = nn.Parameter(torch.zeros(out, rank, dtype=weight.dtype, device=weight.device))
        self.scale = alpha / rank

    def forward(self, x):
        low = x @ self.a.T
        change = low @ self.b.T
        return self.base(x) + self.scale * change

    def merged(self):
        change = self.b @ self.a
        return self.base.weight + self.scale * change
