# softmax over all experts before the choice: the k weights do not sum to one
class MixtureOfExperts(nn.Module):
    def __init__(self, d_model, d_ff, n_experts, k):
        super().__init__()
        self.k = k
        self.n_experts = n_experts
        self.router = nn.Linear(d_model, n_experts, bias=False)
        self.experts = nn.ModuleList(SwiGLU(d_model, d_ff) for _ in range(n_experts))

    def forward(self, x):
        probs = F.softmax(self.router(x), dim=-1)
        w, idx = torch.topk(probs, self.k, dim=-1)
        out = torch.zeros_like(x)
        for e in range(self.n_experts):
            b, l, slot = torch.where(idx == e)
            if b.numel() == 0:
                continue
            y = self.experts[e](x[b, l])
            out[b, l] += w[b, l, slot].unsqueeze(-1) * y
        return out
