# style: all (token, expert) pairs sorted by expert and cut into chunks, index_add for the sum
class SwiGLU(nn.Module):
    # mine from above
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
        self.experts = nn.ModuleList(SwiGLU(d_model, d_ff) for _ in range(n_experts))

    def forward(self, x):
        tokens = x.reshape(-1, x.shape[-1])
        best, who = self.router(tokens).topk(self.k, dim=-1)
        share = best.softmax(-1).reshape(-1)

        owner = torch.arange(len(tokens), device=x.device).repeat_interleave(self.k)
        order = who.reshape(-1).argsort(stable=True)
        counts = torch.bincount(who.reshape(-1), minlength=len(self.experts)).tolist()

        result = torch.zeros_like(tokens)
        for expert, pairs in zip(self.experts, order.split(counts)):
            if len(pairs) == 0:
                continue
            rows = owner[pairs]
            result = result.index_add(0, rows, expert(tokens[rows]) * share[pairs, None])
        return result.view_as(x)
