# style: einsum for the adapter, parameters made from base.weight, merged with addmm
class LoRALinear(nn.Module):
    def __init__(self, base, rank, alpha):
        super().__init__()
        self.base = base
        for p in base.parameters():
            p.requires_grad = False
        n_out, n_in = base.weight.shape
        start = torch.empty(rank, n_in, dtype=base.weight.dtype, device=base.weight.device)
        self.a = nn.Parameter(start.normal_(std=n_in**-0.5))
        self.b = nn.Parameter(base.weight.new_zeros(n_out, rank))
        self.factor = alpha / rank

    def forward(self, x):
        small = torch.einsum("...i,ri->...r", x, self.a)
        change = torch.einsum("...r,or->...o", small, self.b)
        return self.base(x) + self.factor * change

    def merged(self):
        return torch.addmm(self.base.weight, self.b, self.a, alpha=self.factor)
