# a starts at zero like b, so neither ever gets a gradient + only the base's weight is frozen, its bias is still trained
class LoRALinear(nn.Module):
    def __init__(self, base, rank, alpha):
        super().__init__()
        self.base = base
        self.base.weight.requires_grad = False
        self.scale = alpha / rank
        kwargs = {"device": base.weight.device, "dtype": base.weight.dtype}
        self.a = nn.Parameter(torch.zeros((rank, base.weight.shape[1]), **kwargs))
        self.b = nn.Parameter(torch.zeros((base.weight.shape[0], rank), **kwargs))

    def delta(self):
        return self.scale * (self.b @ self.a)

    def forward(self, x):
        return self.base(x) + x @ self.delta().T

    def merged(self):
        return self.base.weight + self.delta()
