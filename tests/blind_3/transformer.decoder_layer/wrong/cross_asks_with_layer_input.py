# cross-attention takes the layer's input as queries (and residual) instead of the result of the self-attention step
class DecoderLayer(nn.Module):
    def __init__(self, d_model, n_heads, d_ff):
        super().__init__()
        mha = lambda: MultiHeadAttention(d_model, n_heads)
        self.self_attn, self.cross_attn = mha(), mha()
        self.ff = FeedForward(d_model, d_ff)
        for i in (1, 2, 3):
            setattr(self, f"norm{i}", nn.LayerNorm(d_model))

    def forward(self, x, memory, self_mask=None, memory_mask=None):
        a, _ = self.self_attn(x, x, x, mask=self_mask)
        a = self.norm1(x + a)
        c, _ = self.cross_attn(x, memory, memory, mask=memory_mask)
        c = self.norm2(x + c)
        y = self.norm3(c + self.ff(c))
        return y
