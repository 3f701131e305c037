# the N k pairs (token, expert) sorted by expert and split into runs; index_add puts the results back
class MixtureOfExperts(nn.Module):
    def __init__(self, d_model, d_ff, n_experts, k):
        super().__init__()
        self.k = k
        self.router = nn.Linear(d_model, n_experts, bias=False)
        self.experts = nn.ModuleList([SwiGLU(d_model, d_ff) for _ in range(n_experts)])

    def forward(self, x):
        tokens = x.reshape(-1, x.shape[-1])
        logits, chosen = self.router(tokens).topk(self.k, dim=-1)           # [N,k]
        weights = torch.softmax(logits, dim=-1).reshape(-1)
        expert_of_pair = chosen.reshape(-1)
        token_of_pair = torch.arange(len(tokens), device=x.device).repeat_interleave(self.k)
        order = expert_of_pair.argsort(stable=True)
        sizes = torch.bincount(expert_of_pair, minlength=len(self.experts)).tolist()
        out = torch.zeros_like(tokens)
        for expert, run in zip(self.experts, order.split(sizes)):
            if len(run):
                rows = token_of_pair[run]
                result = weights[run, None] * expert(tokens[rows])
                out = out.index_add(0, rows, result.to(out.dtype))
        return out.reshape(x.shape)
