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
        logits = self.router(x)  # [B,L,X]
        best = logits.topk(self.k, dim=-1)
        weights = torch.zeros_like(logits).scatter(-1, best.indices, best.values.softmax(-1))
        outputs = torch.stack([expert(x) for expert in self.experts], dim=-1)  # [B,L,E,X]
        return (outputs * weights.unsqueeze(-2)).sum(-1)
