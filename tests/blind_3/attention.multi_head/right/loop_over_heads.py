# explicit loop over the heads, slices of the columns, results collected in lists
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        assert d_model % n_heads == 0
        self.n = n_heads
        self.w = d_model // n_heads
        for name in ("q_proj", "k_proj", "v_proj", "o_proj"):
            setattr(self, name, nn.Linear(d_model, d_model))

    def one_head(self, q, k, v, mask):
        s = torch.einsum("bqd,bkd->bqk", q, k) * self.w ** -0.5
        if mask is None:
            a = s.softmax(-1)
        else:
            s = s.masked_fill(~mask, -torch.inf)
            nothing = ~mask.any(-1, keepdim=True)
            # rows that may see nothing: softmax over harmless zeros, then 0
            a = s.masked_fill(nothing, 0.0).softmax(-1).masked_fill(nothing, 0.0)
        return torch.einsum("bqk,bkd->bqd", a, v), a

    def forward(self, query, key, value, mask=None):
        Q, K, V = self.q_proj(query), self.k_proj(key), self.v_proj(value)
        if mask is not None:
            mask = mask.expand(query.size(0), self.n, query.size(1), key.size(1))
        outs, atts = [], []
        for i in range(self.n):
            cols = slice(i * self.w, (i + 1) * self.w)
            o, a = self.one_head(Q[..., cols], K[..., cols], V[..., cols], None if mask is None else mask[:, i])
            outs.append(o)
            atts.append(a)
        return self.o_proj(torch.cat(outs, -1)), torch.stack(atts, 1)
