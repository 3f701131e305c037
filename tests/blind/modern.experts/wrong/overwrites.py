# writes = instead of += : a token keeps only the output of its last expert
class MixtureOfExperts(nn.Module):
    def __init__(self, d_model, d_ff, n_experts, k):
        super().__init__()
        self.k = k
        self.router = nn.Linear(d_model, n_experts, bias=False)
        self.experts = nn.ModuleList()
        for _ in range(n_experts):
            self.experts.append(SwiGLU(d_model, d_ff))

    def forward(self, x):
        B, L, E = x.shape
        flat = x.view(B * L, E)
        top, which = self.router(flat).topk(self.k)
        weight = top.softmax(-1)
        result = flat.new_zeros(B * L, E)
        for number, expert in enumerate(self.experts):
            hit = which == number                       # [N,k]
            rows = hit.any(dim=-1)
            if rows.any():
                w = (weight * hit).sum(-1)[rows]
                result[rows] = w[:, None] * expert(flat[rows])
        return result.view(B, L, E)
