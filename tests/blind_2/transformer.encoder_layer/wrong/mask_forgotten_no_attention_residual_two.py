# the mask is not passed on to the attention + no residual round the attention

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
        self.self_attn = MultiHeadAttention(d_model, n_heads)
        self.ff = FeedForward(d_model, d_ff)
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)

    def forward(self, x, mask=None):
        out, weights = self.self_attn(x, x, x)
        out = self.norm1(out)
        out = self.norm2(out + self.ff(out))
        return out
