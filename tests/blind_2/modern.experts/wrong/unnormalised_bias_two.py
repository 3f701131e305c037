# weights are the softmax over all experts, not over the k chosen + the router has a bias
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
        self.k = k
        self.router = nn.Linear(d_model, n_experts)
        self.experts = nn.ModuleList(SwiGLU(d_model, d_ff) for _ in range(n_experts))

    def forward(self, x):
        shape = x.shape
        x = x.flatten(0, 1)
        p = self.router(x).softmax(-1)
        w, idx = p.topk(self.k, -1)
        out = torch.zeros_like(x)
        for n in range(self.k):
            for e in range(len(self.experts)):
                m = idx[:, n] == e
                if m.any():
                    out[m] += w[m, n, None] * self.experts[e](x[m])
        return out.reshape(shape)
