# uses norm1 for both sublayers + leaves out the residual of the feed-forward network
import inspect


class EncoderLayer(nn.Module):
    def __init__(self, d_model, n_heads, d_ff):
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, n_heads)
        self.ff = FeedForward(d_model, d_ff)
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        params = list(inspect.signature(self.self_attn.forward).parameters)
        self.copies = params.index("mask") if "mask" in params else 1

    def forward(self, x, mask=None):
        inputs = tuple(x for _ in range(self.copies))
        attended = self.self_attn(*inputs, mask=mask)
        x = self.norm1(attended[0] + x)
        x = self.norm1(self.ff(x))
        return x
