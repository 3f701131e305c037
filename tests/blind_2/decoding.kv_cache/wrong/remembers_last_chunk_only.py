# the new cache holds the keys and values of this call only: what was cached before is forgotten at the next call
class CachedSelfAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.o_proj = nn.Linear(d_model, d_model)

    def forward(self, x, cache=None):
        q, k_new, v_new = (split_heads(p(x), self.n_heads) for p in (self.q_proj, self.k_proj, self.v_proj))
        if cache is None:
            past_len = 0
            k_all, v_all = k_new, v_new
        else:
            k_old, v_old = cache
            past_len = k_old.shape[2]
            k_all = torch.cat((k_old, k_new), 2)
            v_all = torch.cat((v_old, v_new), 2)
        t = x.shape[1]
        rows = torch.arange(t).unsqueeze(1) + past_len
        cols = torch.arange(t + past_len).unsqueeze(0)
        out, weights = scaled_dot_product_attention(q, k_all, v_all, mask=cols <= rows)
        return self.o_proj(merge_heads(out)), (k_new, v_new)
