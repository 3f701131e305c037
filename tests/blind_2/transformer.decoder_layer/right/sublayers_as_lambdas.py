# style: a helper that adds and normalises, the sublayers as closures in a list

class FeedForward(nn.Module):   # from the cell before
    def __init__(self, d_model, d_ff, activation=F.relu, dropout=0.0):
        super().__init__()
        self.up = nn.Linear(d_model, d_ff)
        self.down = nn.Linear(d_ff, d_model)
        self.activation = activation
        self.drop = nn.Dropout(dropout)

    def forward(self, x):
        return self.down(self.drop(self.activation(self.up(x))))


def _add_norm(norm, sublayer, x):
    return norm(sublayer(x) + x)


class DecoderLayer(nn.Module):
    def __init__(self, d_model, n_heads, d_ff):
        super().__init__()
        for name in ("self_attn", "cross_attn"):
            self.add_module(name, MultiHeadAttention(d_model, n_heads))
        self.ff = FeedForward(d_model, d_ff)
        for k in range(1, 4):
            self.add_module(f"norm{k}", nn.LayerNorm(d_model))

    def forward(self, x, memory, self_mask=None, memory_mask=None):
        steps = [
            (self.norm1, lambda y: self.self_attn(y, y, y, mask=self_mask)[0]),
            (self.norm2, lambda y: self.cross_attn(y, memory, memory, mask=memory_mask)[0]),
            (self.norm3, self.ff),
        ]
        for norm, sub in steps:
            x = _add_norm(norm, sub, x)
        return x
