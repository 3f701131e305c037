# every expert is run on all tokens and the unused results get weight zero
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
        self.experts = nn.ModuleList([SwiGLU(d_model, d_ff) for _ in range(n_experts)])

    def forward(self, x):
        logits = self.router(x)
        val, idx = logits.topk(self.k, dim=-1)
        w = torch.zeros_like(logits).scatter(-1, idx, val.softmax(-1))  # [B,L,X]
        outs = torch.stack([e(x) for e in self.experts], dim=-2)  # [B,L,X,E]
        return (w.unsqueeze(-1) * outs).sum(-2)
