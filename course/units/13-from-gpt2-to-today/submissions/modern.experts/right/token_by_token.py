import torch
import torch.nn.functional as F
from torch import nn


class Expert(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.gate = nn.Linear(d_model, d_ff, bias=False)
        self.up = nn.Linear(d_model, d_ff, bias=False)
        self.down = nn.Linear(d_ff, d_model, bias=False)

    def forward(self, x):
        return self.down(F.silu(self.gate(x)) * self.up(x))


class MixtureOfExperts(nn.Module):
    def __init__(self, d_model, d_ff, n_experts, k):
        super().__init__()
        self.k = k
        self.router = nn.Linear(d_model, n_experts, bias=False)
        self.experts = nn.ModuleList(Expert(d_model, d_ff) for _ in range(n_experts))

    def forward(self, x):
        batch, length, _ = x.shape
        rows = []
        for token in x.reshape(batch * length, -1):
            values, numbers = self.router(token).topk(self.k)
            shares = values.softmax(-1)
            rows.append(sum(share * self.experts[int(n)](token) for share, n in zip(shares, numbers)))
        return torch.stack(rows).reshape(x.shape)
