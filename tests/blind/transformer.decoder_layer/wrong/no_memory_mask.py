# does not pass memory_mask on to the cross-attention
import inspect


class DecoderLayer(nn.Module):
    def __init__(self, d_model, n_heads, d_ff):
        super().__init__()
        self.self_attn, self.cross_attn = (MultiHeadAttention(d_model, n_heads) for _ in range(2))
        self.ff = FeedForward(d_model, d_ff)
        self.norm1, self.norm2, self.norm3 = (nn.LayerNorm(d_model) for _ in range(3))

    def _attn(self, module, q, kv, mask=None):
        params = list(inspect.signature(module.forward).parameters)
        count = params.index("mask") if "mask" in params else len(params) - 1
        args = [q] + [kv] * (count - 1)
        y = module(*args, mask)
        if isinstance(y, tuple):
            y = y[0]
        return y

    def forward(self, x, memory, self_mask=None, memory_mask=None):
        x = self.norm1(x + self._attn(self.self_attn, x, x, self_mask))
        x = self.norm2(x + self._attn(self.cross_attn, x, memory))
        return self.norm3(x + self.ff(x))
