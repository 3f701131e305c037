# the softmax runs over the heads instead of over the keys (the heads share out the attention among themselves)
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.o_proj = nn.Linear(d_model, d_model)

    def forward(self, query, key, value, mask=None):
        b, lq, e = query.shape
        lk = key.shape[1]
        d = e // self.n_heads
        q = self.q_proj(query).reshape(b, lq, self.n_heads, d)
        k = self.k_proj(key).reshape(b, lk, self.n_heads, d)
        v = self.v_proj(value).reshape(b, lk, self.n_heads, d)
        s = torch.einsum("bqhd,bkhd->bhqk", q, k) / d ** 0.5
        if mask is not None:
            s = s.masked_fill(~mask, -1e9)
        w = s.softmax(dim=1)
        if mask is not None:
            w = w * mask
        o = torch.einsum("bhqk,bkhd->bqhd", w, v)
        return self.o_proj(o.flatten(2)), w
