# base's parameters still get gradients + merged forgets the factor alpha / rank
class LoRALinear(nn.Module):
    def __init__(self, base, rank, alpha):
        super().__init__()
        self.base = base
        o, i = base.weight.size()
        self.a = nn.Parameter(base.weight.new_empty(rank, i).uniform_(-0.1, 0.1))
        self.b = nn.Parameter(base.weight.new_zeros(o, rank))
        self.s = alpha / rank

    def forward(self, x):
        y = self.base(x)
        y = y + self.s * ((x @ self.a.t()) @ self.b.t())
        return y

    def merged(self):
        return self.base.weight.detach() + self.b @ self.a
