import torch
from torch import nn
from torch.nn.functional import linear


class LoRALinear(nn.Module):
    def __init__(self, base, rank, alpha):
        super().__init__()
        self.base = base
        self.rank, self.alpha = rank, alpha
        self.a = nn.Parameter(torch.empty_like(base.weight[:1]).repeat(rank, 1))
        nn.init.kaiming_uniform_(self.a, a=5**0.5)
        self.b = nn.Parameter(torch.zeros_like(base.weight[:, :1]).repeat(1, rank))

    def merged(self):
        return self.base.weight.detach() + self.alpha / self.rank * torch.matmul(self.b, self.a)

    def forward(self, x):
        bias = None if self.base.bias is None else self.base.bias.detach()
        return linear(x, self.merged(), bias)
