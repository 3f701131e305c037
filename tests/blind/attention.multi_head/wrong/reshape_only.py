# splits the heads with reshape alone, the head axis is not moved (the sentence is cut, not the width)
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.h = n_heads
        self.d = d_model // n_heads
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.o_proj = nn.Linear(d_model, d_model)

    def forward(self, query, key, value, mask=None):
        B, Q, E = query.shape
        K = key.shape[1]
        q = self.q_proj(query).reshape(B, self.h, Q, self.d)
        k = self.k_proj(key).reshape(B, self.h, K, self.d)
        v = self.v_proj(value).reshape(B, self.h, K, self.d)
        scores = q @ k.transpose(-2, -1) / self.d ** 0.5
        if mask is not None:
            scores = scores.masked_fill(~mask, -1e9)
        weights = torch.softmax(scores, dim=-1)
        out = (weights @ v).reshape(B, Q, E)
        return self.o_proj(out), weights
