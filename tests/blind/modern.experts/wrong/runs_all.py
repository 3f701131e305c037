# runs every expert on all tokens, with weight zero where it was not chosen: nothing is saved
class MixtureOfExperts(nn.Module):
    def __init__(self, d_model, d_ff, n_experts, k):
        super().__init__()
        self.router = nn.Linear(d_model, n_experts, bias=False)
        self.experts = nn.ModuleList([SwiGLU(d_model, d_ff) for _ in range(n_experts)])
        self.k = k

    def forward(self, x):
        logits = self.router(x)
        kth = logits.topk(self.k, dim=-1).values[..., -1:]
        gates = logits.masked_fill(logits < kth, float("-inf")).softmax(dim=-1)     # [B,L,n]
        outputs = torch.stack([expert(x) for expert in self.experts], dim=-1)      # [B,L,E,n]
        return torch.einsum("blen,bln->ble", outputs, gates)
