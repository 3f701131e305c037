# norm before each sublayer (pre-norm) instead of after the addition
class DecoderLayer(nn.Module):
    def __init__(self, d_model, n_heads, d_ff):
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, n_heads)
        self.cross_attn = MultiHeadAttention(d_model, n_heads)
        self.ff = FeedForward(d_model, d_ff)
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.norm3 = nn.LayerNorm(d_model)

    def forward(self, x, memory, self_mask=None, memory_mask=None):
        n = self.norm1(x)
        x = x + self.self_attn(n, n, n, self_mask)[0]
        n = self.norm2(x)
        x = x + self.cross_attn(n, memory, memory, memory_mask)[0]
        n = self.norm3(x)
        x = x + self.ff(n)
        return x
