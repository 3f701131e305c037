# hides where the mask is True + never applies o_proj
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.num_heads = n_heads
        self.head_dim = d_model // n_heads
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.o_proj = nn.Linear(d_model, d_model)

    def forward(self, query, key, value, mask=None):
        outputs, all_weights = [], []
        Q, K, V = self.q_proj(query), self.k_proj(key), self.v_proj(value)
        for h in range(self.num_heads):
            cols = slice(h * self.head_dim, (h + 1) * self.head_dim)
            score = Q[:, :, cols] @ K[:, :, cols].transpose(1, 2) / math.sqrt(self.head_dim)
            all_weights.append(score)
            outputs.append(V[:, :, cols])
        scores = torch.stack(all_weights, dim=1)
        if mask is not None:
            scores = scores.masked_fill(mask, -1e9)
        weights = F.softmax(scores, dim=-1)
        concat = torch.cat([weights[:, h] @ outputs[h] for h in range(self.num_heads)], dim=-1)
        return concat, weights
