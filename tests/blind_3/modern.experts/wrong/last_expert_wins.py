# results are assigned instead of added, so each token keeps only the last of its k experts
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
        self.experts = nn.ModuleList()
        for _ in range(n_experts):
            self.experts.append(SwiGLU(d_model, d_ff))
        self.k = k

    def forward(self, x):
        shape = x.shape
        tokens = x.flatten(0, 1)
        logits, experts = self.router(tokens).topk(self.k)
        weights = torch.softmax(logits, -1)
        result = torch.zeros_like(tokens)
        for i, expert in enumerate(self.experts):
            hit = experts == i
            used = hit.any(-1)
            w = (weights * hit).sum(-1)[used]
            result[used] = expert(tokens[used]) * w[:, None]
        return result.view(shape)
