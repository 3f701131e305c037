# returns the weights averaged over the heads [B,Q,K], as nn.MultiheadAttention does
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.o_proj = nn.Linear(d_model, d_model)
        self.n_heads = n_heads

    def forward(self, query, key, value, mask=None):
        qs = self.q_proj(query).chunk(self.n_heads, dim=-1)
        ks = self.k_proj(key).chunk(self.n_heads, dim=-1)
        vs = self.v_proj(value).chunk(self.n_heads, dim=-1)
        q, k, v = (torch.stack(t, dim=1) for t in (qs, ks, vs))
        s = q.matmul(k.transpose(2, 3)) * q.size(-1) ** -0.5
        if mask is not None:
            s = s.masked_fill(mask.logical_not(), -1e9)
        w = s.softmax(-1)
        o = w.matmul(v)
        o = torch.cat(o.unbind(1), dim=-1)
        return self.o_proj(o), w.mean(1)
