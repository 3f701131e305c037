# the experts' results are assigned instead of added, the last expert wins
class SwiGLU(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.gate = nn.Linear(d_model, d_ff, bias=False)
        self.up = nn.Linear(d_model, d_ff, bias=False)
        self.down = nn.Linear(d_ff, d_model, bias=False)

    def forward(self, x):
        return self.down(F.silu(self.gate(x)) * self.up(x))


def pick(logits, k):
    v, i = torch.topk(logits, k, dim=-1)
    return F.softmax(v, dim=-1), i


class MixtureOfExperts(nn.Module):
    def __init__(self, d_model, d_ff, n_experts, k):
        super().__init__()
        self.k = k
        self.router = nn.Linear(d_model, n_experts, bias=False)
        self.experts = nn.ModuleList([SwiGLU(d_model, d_ff) for _ in range(n_experts)])

    def forward(self, x):
        B, L, E = x.shape
        flat = x.view(B * L, E)
        weights, experts = pick(self.router(flat), self.k)
        out = torch.zeros_like(flat)
        for e, ffn in enumerate(self.experts):
            tok, slot = torch.where(experts == e)
            if tok.numel() > 0:
                out[tok] = weights[tok, slot].unsqueeze(-1) * ffn(flat[tok])
        return out.view(B, L, E)
