# the softmax is over all experts and then the best k are taken, so the weights do not sum to one
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
        self.router = nn.Linear(d_model, n_experts, bias=False)
        self.experts = nn.ModuleList(SwiGLU(d_model, d_ff) for _ in range(n_experts))
        self.k = k

    def forward(self, x):
        B, L, E = x.shape
        x = x.reshape(B * L, E)
        probs = F.softmax(self.router(x), dim=-1)
        weights, idx = torch.topk(probs, self.k)
        out = torch.zeros_like(x)
        for e in range(len(self.experts)):
            rows, slot = torch.where(idx == e)
            if len(rows) > 0:
                out[rows] += weights[rows, slot, None] * self.experts[e](x[rows])
        return out.reshape(B, L, E)
