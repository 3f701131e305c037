# the cache passed in is changed (lists appended to): a prefix can not be continued in several ways
class CachedSelfAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.H = n_heads
        self.q_proj, self.k_proj, self.v_proj, self.o_proj = [nn.Linear(d_model, d_model) for _ in range(4)]

    def forward(self, x, cache=None):
        if cache is None:
            cache = {"k": [], "v": []}
        cache["k"].append(split_heads(self.k_proj(x), self.H))
        cache["v"].append(split_heads(self.v_proj(x), self.H))
        k = torch.cat(cache["k"], dim=-2)
        v = torch.cat(cache["v"], dim=-2)
        q = split_heads(self.q_proj(x), self.H)
        t, total = q.size(-2), k.size(-2)
        allowed = torch.ones(t, total).tril(total - t).bool()
        y = scaled_dot_product_attention(q, k, v, allowed)[0]
        return self.o_proj(merge_heads(y)), cache
