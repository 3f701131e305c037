# scores divided by sqrt(d_model) instead of the square root of one head's width
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.d_model, self.n_heads = d_model, n_heads
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.o_proj = nn.Linear(d_model, d_model)

    def _split(self, x):
        B, L, E = x.shape
        return x.view(B, L, self.n_heads, E // self.n_heads).transpose(1, 2)

    def forward(self, query, key, value, mask=None):
        q, k, v = self._split(self.q_proj(query)), self._split(self.k_proj(key)), self._split(self.v_proj(value))
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d_model)
        if mask is None:
            mask = torch.ones_like(scores, dtype=torch.bool)
        weights = masked_softmax(scores, mask)
        out = (weights @ v).transpose(1, 2).flatten(2)
        return self.o_proj(out), weights
