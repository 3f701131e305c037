# a list of (sublayer, norm) pairs built with lambdas, run in a loop
class DecoderLayer(nn.Module):
    def __init__(self, d_model, n_heads, d_ff):
        super().__init__()
        self.norm1, self.norm2, self.norm3 = (nn.LayerNorm(d_model) for _ in range(3))
        self.ff = FeedForward(d_model, d_ff)
        self.cross_attn = MultiHeadAttention(d_model, n_heads)
        self.self_attn = MultiHeadAttention(d_model, n_heads)

    def forward(self, x, memory, self_mask=None, memory_mask=None):
        plan = [
            (lambda y: self.self_attn(y, y, y, self_mask)[0], self.norm1),
            (lambda y: self.cross_attn(y, memory, memory, memory_mask)[0], self.norm2),
            (self.ff, self.norm3),
        ]
        for sub, norm in plan:
            found = sub(x)
            x = norm(torch.add(x, found))
        return x
