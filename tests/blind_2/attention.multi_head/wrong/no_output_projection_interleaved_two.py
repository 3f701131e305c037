# o_proj is never applied + a head gets every H-th column instead of a block of D columns
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n = n_heads
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.o_proj = nn.Linear(d_model, d_model)

    def forward(self, query, key, value, mask=None):
        outs, ws = [], []
        Q, K, V = self.q_proj(query), self.k_proj(key), self.v_proj(value)
        for i in range(self.n):
            m = mask
            if m is not None:
                m = m.expand(query.shape[0], self.n, query.shape[1], key.shape[1])[:, i]
            o, w = scaled_dot_product_attention(Q[..., i::self.n], K[..., i::self.n], V[..., i::self.n], m)
            outs.append(o)
            ws.append(w)
        return torch.cat(outs, -1), torch.stack(ws, 1)
