# normalises before each sublayer (pre-norm)
import inspect


class EncoderLayer(nn.Module):
    def __init__(self, d_model, n_heads, d_ff):
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, n_heads)
        self.ff = FeedForward(d_model, d_ff)
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)

    def attend(self, y, mask):
        names = [p for p in inspect.signature(self.self_attn.forward).parameters]
        before = names.index("mask") if "mask" in names else 1
        return self.self_attn(*[y] * before, mask=mask)[0]

    def forward(self, x, mask=None):
        x = x + self.attend(self.norm1(x), mask)
        x = x + self.ff(self.norm2(x))
        return x
