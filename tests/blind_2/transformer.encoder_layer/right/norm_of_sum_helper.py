# style: layer norm through F.layer_norm with the module's parameters, keyword arguments, a small helper

class FeedForward(nn.Module):   # from the cell before
    def __init__(self, d_model, d_ff, activation=F.relu, dropout=0.0):
        super().__init__()
        self.up = nn.Linear(d_model, d_ff)
        self.down = nn.Linear(d_ff, d_model)
        self.activation = activation
        self.drop = nn.Dropout(dropout)

    def forward(self, x):
        return self.down(self.drop(self.activation(self.up(x))))


class EncoderLayer(nn.Module):
    def __init__(self, d_model, n_heads, d_ff):
        super().__init__()
        self.norm2 = nn.LayerNorm(d_model)
        self.norm1 = nn.LayerNorm(d_model)
        self.ff = FeedForward(d_model, d_ff)
        self.self_attn = MultiHeadAttention(d_model, n_heads)

    @staticmethod
    def normalised(ln, a, b):
        return F.layer_norm(a + b, ln.normalized_shape, ln.weight, ln.bias, ln.eps)

    def forward(self, x, mask=None):
        mixed = self.self_attn(query=x, key=x, value=x, mask=mask)[0]
        middle = self.normalised(self.norm1, x, mixed)
        return self.normalised(self.norm2, middle, self.ff(middle))
