# no causal mask within the chunk + scaled by sqrt(d_model) instead of the head's width
class CachedSelfAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.d_model = d_model
        self.n_heads = n_heads
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.o_proj = nn.Linear(d_model, d_model)

    def forward(self, x, cache=None):
        q = split_heads(self.q_proj(x), self.n_heads)
        kv = torch.stack([split_heads(self.k_proj(x), self.n_heads), split_heads(self.v_proj(x), self.n_heads)])
        if cache is not None:
            kv = torch.cat([cache, kv], dim=3)
        k, v = kv
        # only the past is in the cache, so no mask is needed
        a = F.softmax(q @ k.transpose(2, 3) / self.d_model ** 0.5, dim=-1)
        return self.o_proj(merge_heads(a @ v)), kv
