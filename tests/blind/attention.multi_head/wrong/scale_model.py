# scales by sqrt(d_model) instead of the square root of one head's width
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.d_model, self.n_heads = d_model, n_heads
        self.scale = 1 / math.sqrt(d_model)
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.o_proj = nn.Linear(d_model, d_model)

    def split(self, x):
        return x.view(x.size(0), x.size(1), self.n_heads, -1).permute(0, 2, 1, 3)

    def forward(self, query, key, value, mask=None):
        q, k, v = (self.split(p(x)) for p, x in
                   ((self.q_proj, query), (self.k_proj, key), (self.v_proj, value)))
        att = torch.matmul(q * self.scale, k.mT)
        if mask is not None:
            att = torch.where(mask, att, torch.tensor(-1e9, dtype=att.dtype))
        att = F.softmax(att, -1)
        y = torch.matmul(att, v).permute(0, 2, 1, 3).contiguous()
        y = y.view(y.size(0), y.size(1), self.d_model)
        return self.o_proj(y), att
