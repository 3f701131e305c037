# the second residual adds the layer's input again, not the output of the self-attention step
import inspect


def mha(module, q, kv, mask):
    p = list(inspect.signature(module.forward).parameters)
    k = p.index("mask") if "mask" in p else len(p) - 1
    r = module(q, *([kv] * (k - 1)), mask)
    return r[0] if isinstance(r, tuple) else r


class DecoderLayer(nn.Module):
    def __init__(self, d_model, n_heads, d_ff):
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, n_heads)
        self.norm1 = nn.LayerNorm(d_model)
        self.cross_attn = MultiHeadAttention(d_model, n_heads)
        self.norm2 = nn.LayerNorm(d_model)
        self.ff = FeedForward(d_model, d_ff)
        self.norm3 = nn.LayerNorm(d_model)

    def forward(self, x, memory, self_mask=None, memory_mask=None):
        attended = mha(self.self_attn, x, x, self_mask)
        h1 = self.norm1(x + attended)
        looked_up = mha(self.cross_attn, h1, memory, memory_mask)
        h2 = self.norm2(x + looked_up)
        return self.norm3(h2 + self.ff(h2))
