# the three sublayers as a list of (function, norm) that one loop goes through
import inspect


def _look_up(attention, queries, memory, mask):
    """Calls an attention whose forward takes (x, memory, mask) or (query, key, value, mask)."""
    names = list(inspect.signature(attention.forward).parameters)
    before = names.index("mask") if "mask" in names else len(names) - 1
    inputs = [queries] + [memory] * (before - 1)
    out = attention(*inputs, mask)
    return out[0] if isinstance(out, tuple) else out


class DecoderLayer(nn.Module):
    def __init__(self, d_model, n_heads, d_ff):
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, n_heads)
        self.cross_attn = MultiHeadAttention(d_model, n_heads)
        self.ff = FeedForward(d_model, d_ff)
        for i in (1, 2, 3):
            setattr(self, f"norm{i}", nn.LayerNorm(d_model))

    def forward(self, x, memory, self_mask=None, memory_mask=None):
        steps = [
            (lambda h: _look_up(self.self_attn, h, h, self_mask), self.norm1),
            (lambda h: _look_up(self.cross_attn, h, memory, memory_mask), self.norm2),
            (self.ff, self.norm3),
        ]
        for sublayer, norm in steps:
            x = norm(x + sublayer(x))
        return x
