# every expert is run on all tokens and multiplied by a weight that is zero for most, nothing is saved
if "SwiGLU" not in globals():  # from the earlier cell

    class SwiGLU(nn.Module):
        def __init__(self, d_model, d_ff):
            super().__init__()
            self.gate = nn.Linear(d_model, d_ff, bias=False)
            self.up = nn.Linear(d_model, d_ff, bias=False)
            self.down = nn.Linear(d_ff, d_model, bias=False)

        def forward(self, x):
            return self.down(F.silu(self.gate(x)) * self.up(x))


class MixtureOfExperts(nn.Module):
    def __init__(self, d_model, d_ff, n_experts, k):
        super().__init__()
        self.n_experts, self.k = n_experts, k
        self.router = nn.Linear(d_model, n_experts, bias=False)
        self.experts = nn.ModuleList([SwiGLU(d_model, d_ff) for i in range(n_experts)])

    def forward(self, x):
        logits = self.router(x)
        values, index = logits.topk(self.k, dim=-1)
        gates = torch.zeros_like(logits).scatter(-1, index, values.softmax(dim=-1))
        y = torch.stack([ex(x) for ex in self.experts], dim=-1)
        return (y * gates.unsqueeze(-2)).sum(-1)
