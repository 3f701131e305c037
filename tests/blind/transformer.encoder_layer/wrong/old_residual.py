# the second residual adds the layer's input instead of the first sublayer's result
import inspect


def call_attention(att, x, mask):
    sig = inspect.signature(att.forward)
    k = 3
    while k > 0:
        try:
            sig.bind(*(k * [x]), mask=mask)
            break
        except TypeError:
            k -= 1
    out, weights = att(*(k * [x]), mask=mask)
    return out


class EncoderLayer(nn.Module):
    def __init__(self, d_model, n_heads, d_ff):
        super().__init__()
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.self_attn = MultiHeadAttention(d_model, n_heads)
        self.ff = FeedForward(d_model, d_ff)

    def forward(self, x, mask=None):
        h = self.norm1(x + call_attention(self.self_attn, x, mask))
        return self.norm2(x + self.ff(h))
