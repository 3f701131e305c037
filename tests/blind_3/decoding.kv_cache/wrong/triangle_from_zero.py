# the triangle ignores the length of the past: new position i sees only the first i+1 keys
class CachedSelfAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.o_proj = nn.Linear(d_model, d_model)

    def forward(self, x, cache=None):
        q = split_heads(self.q_proj(x), self.n_heads)
        k = split_heads(self.k_proj(x), self.n_heads)
        v = split_heads(self.v_proj(x), self.n_heads)
        if cache is not None:
            old_k, old_v = cache
            k = torch.cat((old_k, k), dim=2)
            v = torch.cat((old_v, v), dim=2)
        mask = torch.tril(torch.ones(q.shape[2], k.shape[2], dtype=torch.bool))
        out, _ = scaled_dot_product_attention(q, k, v, mask)
        return self.o_proj(merge_heads(out)), (k, v)
