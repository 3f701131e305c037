# style: all (token, slot) pairs sorted by expert, split into runs, scattered back with index_add
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
        self.k = k
        self.router = nn.Linear(d_model, n_experts, bias=False)
        self.experts = nn.ModuleList([SwiGLU(d_model, d_ff) for _ in range(n_experts)])

    def forward(self, x):
        flat = x.reshape(-1, x.shape[-1])
        top, chosen = self.router(flat).topk(self.k, dim=-1)
        w = top.softmax(-1).reshape(-1)
        order = chosen.reshape(-1).argsort()
        token = order // self.k
        counts = chosen.reshape(-1).bincount(minlength=len(self.experts)).tolist()
        out = torch.zeros_like(flat)
        for expert, rows, slots in zip(self.experts, token.split(counts), order.split(counts)):
            if rows.numel():
                y = expert(flat[rows]) * w[slots].unsqueeze(-1)
                out = out.index_add(0, rows, y.to(out.dtype))
        return out.view_as(x)
