# the update as one small function of the two parameters, addmm for the merge, einsum in forward
class LoRALinear(nn.Module):
    def __init__(self, base, rank, alpha):
        super().__init__()
        self.base = base
        for p in base.parameters():
            p.requires_grad = False
        out_features, in_features = base.weight.shape
        like = dict(dtype=base.weight.dtype, device=base.weight.device)
        self.a = nn.Parameter(torch.randn(rank, in_features, **like) * in_features ** -0.5)
        self.b = nn.Parameter(torch.zeros(out_features, rank, **like))
        self.factor = alpha / rank

    def forward(self, x):
        thin = torch.einsum("...i,ri->...r", x, self.a)
        return self.base(x) + self.factor * torch.einsum("...r,or->...o", thin, self.b)

    def merged(self):
        return torch.addmm(self.base.weight, self.b, self.a, alpha=self.factor)
