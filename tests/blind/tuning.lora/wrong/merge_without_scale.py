# merged() forgets the factor alpha / rank that forward uses
class LoRALinear(nn.Module):
    def __init__(self, base, rank, alpha):
        super().__init__()
        for param in base.parameters():
            param.requires_grad_(False)
        self.base = base
        n_out, n_in = base.weight.size()
        a = torch.rand(rank, n_in) - 0.5
        b = torch.zeros(n_out, rank)
        self.a = nn.Parameter(a.to(base.weight))
        self.b = nn.Parameter(b.to(base.weight))
        self.rank = rank
        self.alpha = alpha

    def forward(self, x):
        y = self.base(x)
        delta = x.matmul(self.a.t()).matmul(self.b.t())
        return y + self.alpha / self.rank * delta

    def merged(self):
        return self.base.weight + torch.matmul(self.b, self.a)
