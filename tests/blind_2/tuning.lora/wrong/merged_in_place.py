# merged adds the adapter to base.weight in place
class LoRALinear(nn.Module):
    def __init__(self, base, rank, alpha):
        super().__init__()
        self.base = base
        self.base.requires_grad_(False)
        out_features, in_features = base.weight.shape
        self.rank, self.alpha = rank, alpha
        kw = dict(dtype=base.weight.dtype, device=base.weight.device)
        self.a = nn.Parameter(torch.empty(rank, in_features, **kw))
        nn.init.kaiming_uniform_(self.a, a=5 ** 0.5)
        self.b = nn.Parameter(torch.zeros(out_features, rank, **kw))

    def forward(self, x):
        delta = F.linear(F.linear(x, self.a), self.b)
        return self.base(x) + delta * (self.alpha / self.rank)

    @torch.no_grad()
    def merged(self):
        w = self.base.weight
        w += (self.alpha / self.rank) * (self.b @ self.a)
        return w
