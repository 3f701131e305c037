# cross-attention takes memory as the query and x as keys and values + no residual around the feed-forward
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
        h = self.norm1(x + self.self_attn(x, x, x, self_mask)[0])
        h = self.norm2(h + self.cross_attn(memory, h, h, memory_mask)[0])
        h = self.norm3(self.ff(h))
        return h
