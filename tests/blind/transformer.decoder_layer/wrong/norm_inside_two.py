# adds the residual after the norm + the feed-forward has no residual
import inspect


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
        names = list(inspect.signature(self.self_attn.forward).parameters)
        times = (names.index("mask") if "mask" in names else len(names) - 1) - 1

        sa = self.self_attn(x, *[x] * times, self_mask)
        sa = sa[0] if isinstance(sa, tuple) else sa
        x = x + self.norm1(sa)

        ca = self.cross_attn(x, *[memory] * times, memory_mask)
        ca = ca[0] if isinstance(ca, tuple) else ca
        x = x + self.norm2(ca)

        return self.norm3(self.ff(x))
