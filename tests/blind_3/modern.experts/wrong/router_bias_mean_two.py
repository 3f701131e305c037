# the router has a bias + the k experts' outputs are averaged instead of weighted
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
        self.router = nn.Linear(d_model, n_experts)
        self.experts = nn.ModuleList([SwiGLU(d_model, d_ff) for _ in range(n_experts)])
        self.k = k

    def forward(self, x):
        h = x.reshape(-1, x.size(-1))
        best = self.router(h).topk(self.k, dim=-1).indices
        out = torch.zeros_like(h)
        for slot in range(self.k):
            for e, net in enumerate(self.experts):
                sel = (best[:, slot] == e).nonzero().squeeze(1)
                if sel.numel() == 0:
                    continue
                out = out.index_add(0, sel, net(h[sel]) / self.k)
        return out.reshape(x.shape)
