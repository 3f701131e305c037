from torch import nn


class LoRALinear(nn.Module):
    def __init__(self, base: nn.Linear, rank, alpha):
        super().__init__()
        self.base = base.requires_grad_(False)
        self.scale = alpha / rank
        weight = base.weight
        self.a = nn.Parameter(weight.new_zeros(rank, weight.size(1)).normal_(std=weight.size(1) ** -0.5))
        self.b = nn.Parameter(weight.new_zeros(weight.size(0), rank))

    def forward(self, x):
        return self.base(x) + self.scale * (x @ self.a.T @ self.b.T)

    def merged(self):
        return self.base.weight + self.scale * (self.b @ self.a)
