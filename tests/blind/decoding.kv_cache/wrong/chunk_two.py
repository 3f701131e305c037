# with a cache no mask at all, as if a chunk were always one position + divides by the root of d_model, not of a head's width
class CachedSelfAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.d_model = d_model
        self.n_heads = n_heads
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.o_proj = nn.Linear(d_model, d_model)

    def forward(self, x, cache=None):
        B, t, _ = x.shape
        shape = (B, t, self.n_heads, self.d_model // self.n_heads)
        q = self.q_proj(x).reshape(shape).transpose(1, 2)
        k = self.k_proj(x).reshape(shape).transpose(1, 2)
        v = self.v_proj(x).reshape(shape).transpose(1, 2)
        if cache is not None:
            k = torch.cat([cache[0], k], dim=-2)
            v = torch.cat([cache[1], v], dim=-2)
        scores = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(self.d_model)
        if cache is None:
            scores = scores + torch.triu(torch.full((t, t), float("-inf")), diagonal=1)
        z = torch.matmul(torch.softmax(scores, dim=-1), v)
        z = z.transpose(1, 2).reshape(B, t, self.d_model)
        return self.o_proj(z), (k, v)
