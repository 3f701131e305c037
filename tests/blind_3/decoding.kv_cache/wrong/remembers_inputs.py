# caches the inputs and projects the whole past to keys and values again in every call
class CachedSelfAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.q_proj, self.k_proj = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)
        self.v_proj, self.o_proj = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)

    def forward(self, x, cache=None):
        seen = x if cache is None else torch.cat([cache, x], dim=1)
        new, total = x.shape[1], seen.shape[1]
        q = split_heads(self.q_proj(x), self.n_heads)
        k = split_heads(self.k_proj(seen), self.n_heads)
        v = split_heads(self.v_proj(seen), self.n_heads)
        mask = torch.ones(total, total, dtype=torch.bool, device=x.device).tril()[total - new:]
        y, _ = scaled_dot_product_attention(q, k, v, mask)
        return self.o_proj(merge_heads(y)), seen
