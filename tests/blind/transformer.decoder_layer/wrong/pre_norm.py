# norms the input of each sublayer instead of the sum (pre-norm, as in GPT-2)
import inspect


def call(att, q, kv, mask):
    names = list(inspect.signature(att.forward).parameters)
    n = names.index("mask") if "mask" in names else len(names) - 1
    out = att(*([q] + [kv] * (n - 1)), mask)
    return out[0] if isinstance(out, tuple) else out


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
        h = self.norm1(x)
        x = x + call(self.self_attn, h, h, self_mask)
        h = self.norm2(x)
        x = x + call(self.cross_attn, h, memory, memory_mask)
        x = x + self.ff(self.norm3(x))
        return x
