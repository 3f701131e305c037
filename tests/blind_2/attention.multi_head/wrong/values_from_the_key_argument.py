# the values are projected from `key`, the argument `value` is not used
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.h = n_heads
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.o_proj = nn.Linear(d_model, d_model)

    def forward(self, query, key, value, mask=None):
        b, lq, e = query.shape
        lk = key.shape[1]
        d = e // self.h
        q = self.q_proj(query).reshape(b, lq, self.h, d).permute(0, 2, 1, 3)
        k = self.k_proj(key).reshape(b, lk, self.h, d).permute(0, 2, 1, 3)
        v = self.v_proj(key).reshape(b, lk, self.h, d).permute(0, 2, 1, 3)
        o, w = scaled_dot_product_attention(q, k, v, mask)
        o = o.permute(0, 2, 1, 3).reshape(b, lq, e)
        return self.o_proj(o), w
