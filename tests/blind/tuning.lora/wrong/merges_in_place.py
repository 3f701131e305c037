# merged() adds the adapter to the base weight itself, so it counts twice afterwards
class LoRALinear(nn.Module):
    def __init__(self, base, rank, alpha):
        super().__init__()
        self.base = base.requires_grad_(False)
        self.rank, self.alpha = rank, alpha
        self.a = nn.Parameter(base.weight.new_empty(rank, base.in_features).normal_(std=0.02))
        self.b = nn.Parameter(base.weight.new_zeros(base.out_features, rank))

    def forward(self, x):
        update = F.linear(F.linear(x, self.a), self.b)
        return self.base(x) + update * (self.alpha / self.rank)

    @torch.no_grad()
    def merged(self):
        self.base.weight += self.alpha / self.rank * (self.b @ self.a)
        return self.base.weight
