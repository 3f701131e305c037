# the adapter is scaled with alpha, not alpha / rank
class LoRALinear(nn.Module):
    def __init__(self, base, rank, alpha):
        super().__init__()
        self.base = base
        for param in self.base.parameters():
            param.requires_grad_(False)
        self.alpha = alpha
        self.a = nn.Parameter(torch.randn(rank, base.in_features).to(base.weight) / rank)
        self.b = nn.Parameter(torch.zeros(base.out_features, rank).to(base.weight))

    def delta(self):
        return self.alpha * (self.b @ self.a)

    def forward(self, x):
        return self.base(x) + x @ self.delta().T

    def merged(self):
        return self.base.weight + self.delta()
