# unflatten and einsum, the head axis is never moved by hand; own masked softmax
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        assert d_model % n_heads == 0
        self.n_heads = n_heads
        for name in ("q_proj", "k_proj", "v_proj", "o_proj"):
            setattr(self, name, nn.Linear(d_model, d_model))

    def _heads(self, projected):
        return projected.unflatten(-1, (self.n_heads, -1))  # [B,L,H,D]

    def forward(self, query, key, value, mask=None):
        q = self._heads(self.q_proj(query))
        k = self._heads(self.k_proj(key))
        v = self._heads(self.v_proj(value))
        scores = torch.einsum("bqhd,bkhd->bhqk", q, k) / math.sqrt(q.shape[-1])
        if mask is not None:
            scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        weights = scores.softmax(dim=-1)
        if mask is not None:
            weights = weights.masked_fill(~mask, 0.0)
        together = torch.einsum("bhqk,bkhd->bqhd", weights, v).flatten(-2)
        return self.o_proj(together), weights
