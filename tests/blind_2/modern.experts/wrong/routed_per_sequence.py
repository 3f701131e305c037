# the router decides once per sequence, on the mean of its tokens, instead of for each token
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
        scores = self.router(x.mean(dim=1))  # [B,X]
        top, chosen = scores.topk(self.k)
        top = top.softmax(-1)
        ys = []
        for b in range(x.shape[0]):
            y = 0
            for j in range(self.k):
                y = y + top[b, j] * self.experts[int(chosen[b, j])](x[b])
            ys.append(y)
        return torch.stack(ys)
