# returns the weights averaged over the heads, [B,Q,K], instead of those of every head
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        for name in ["q_proj", "k_proj", "v_proj", "o_proj"]:
            setattr(self, name, nn.Linear(d_model, d_model))

    def forward(self, query, key, value, mask=None):
        def cut(t):
            return torch.stack(t.chunk(self.n_heads, dim=-1), dim=1)

        heads, weights = scaled_dot_product_attention(
            cut(self.q_proj(query)), cut(self.k_proj(key)), cut(self.v_proj(value)), mask
        )
        merged = torch.cat(list(heads.unbind(1)), dim=-1)
        return self.o_proj(merged), weights.mean(1)
