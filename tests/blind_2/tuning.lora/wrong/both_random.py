# b starts at random too, so the layer is changed from the start
class LoRALinear(nn.Module):
    def __init__(self, base, rank, alpha):
        super().__init__()
        self.base = base.requires_grad_(False)
        w = base.weight
        self.a = nn.Parameter(torch.randn(rank, w.shape[1], dtype=w.dtype, device=w.device) * 0.02)
        self.b = nn.Parameter(torch.randn(w.shape[0], rank, dtype=w.dtype, device=w.device) * 0.02)
        self.scale = alpha / rank

    def forward(self, x):
        return self.base(x) + self.scale * (x @ self.a.T @ self.b.T)

    def merged(self):
        return self.base.weight + self.scale * self.b @ self.a
