# memory_mask is never passed on, cross-attention looks at the padding
class DecoderLayer(nn.Module):
    def __init__(self, d_model, n_heads, d_ff):
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, n_heads)
        self.norm1 = nn.LayerNorm(d_model)
        self.cross_attn = MultiHeadAttention(d_model, n_heads)
        self.norm2 = nn.LayerNorm(d_model)
        self.ff = FeedForward(d_model, d_ff)
        self.norm3 = nn.LayerNorm(d_model)

    def add_norm(self, x, y, norm):
        return norm(x + y)

    def forward(self, x, memory, self_mask=None, memory_mask=None):
        out, weights = self.self_attn(x, x, x, self_mask)
        x = self.add_norm(x, out, self.norm1)
        out, weights = self.cross_attn(x, memory, memory)
        x = self.add_norm(x, out, self.norm2)
        return self.add_norm(x, self.ff(x), self.norm3)
