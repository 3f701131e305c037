# heads are merged by reshape alone, without moving the head axis back behind the positions
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.heads = n_heads
        self.q_proj, self.k_proj, self.v_proj, self.o_proj = [nn.Linear(d_model, d_model) for _ in range(4)]

    def _split(self, t):
        return t.unflatten(-1, (self.heads, -1)).permute(0, 2, 1, 3)

    def forward(self, query, key, value, mask=None):
        q, k, v = map(self._split, (self.q_proj(query), self.k_proj(key), self.v_proj(value)))
        ctx, weights = scaled_dot_product_attention(q, k, v, mask)
        ctx = ctx.reshape(query.shape)
        return self.o_proj(ctx), weights
