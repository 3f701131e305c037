# the base layer is not frozen, its weights still get gradients
class LoRALinear(nn.Module):
    def __init__(self, base, rank, alpha):
        super().__init__()
        self.base = base
        w = base.weight
        self.a = nn.Parameter(torch.empty(rank, w.shape[1], dtype=w.dtype, device=w.device))
        nn.init.kaiming_uniform_(self.a, a=5 ** 0.5)
        self.b = nn.Parameter(torch.zeros(w.shape[0], rank, dtype=w.dtype, device=w.device))
        self.scaling = alpha / rank

    def forward(self, x):
        return self.base(x) + self.scaling * (x @ self.a.T @ self.b.T)

    def merged(self):
        return self.base.weight + self.scaling * self.b @ self.a
