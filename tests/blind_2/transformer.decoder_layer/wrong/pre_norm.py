# normalises before each sublayer (pre-norm) instead of after the addition

class FeedForward(nn.Module):   # from the cell before
    def __init__(self, d_model, d_ff, activation=F.relu, dropout=0.0):
        super().__init__()
        self.up = nn.Linear(d_model, d_ff)
        self.down = nn.Linear(d_ff, d_model)
        self.activation = activation
        self.drop = nn.Dropout(dropout)

    def forward(self, x):
        return self.down(self.drop(self.activation(self.up(x))))


class DecoderLayer(nn.Module):
    def __init__(self, d_model, n_heads, d_ff):
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, n_heads)
        self.cross_attn = MultiHeadAttention(d_model, n_heads)
        self.ff = FeedForward(d_model, d_ff)
        self.norm1, self.norm2, self.norm3 = (nn.LayerNorm(d_model) for _ in range(3))

    def forward(self, x, memory, self_mask=None, memory_mask=None):
        h = self.norm1(x)
        x = x + self.self_attn(h, h, h, self_mask)[0]
        h = self.norm2(x)
        x = x + self.cross_attn(h, memory, memory, memory_mask)[0]
        return x + self.ff(self.norm3(x))
