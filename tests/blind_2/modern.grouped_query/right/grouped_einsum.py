# style: einsum with a group axis, keys and values are never repeated
class GroupedQueryAttention(nn.Module):
    def __init__(self, d_model, n_heads, n_kv_heads):
        super().__init__()
        self.kv = n_kv_heads
        self.group = n_heads // n_kv_heads
        self.width = d_model // n_heads
        self.q_proj = nn.Linear(d_model, n_heads * self.width, bias=False)
        self.k_proj = nn.Linear(d_model, n_kv_heads * self.width, bias=False)
        self.v_proj = nn.Linear(d_model, n_kv_heads * self.width, bias=False)
        self.o_proj = nn.Linear(n_heads * self.width, d_model, bias=False)

    def forward(self, x, mask=None):
        b, l, _ = x.shape
        q = self.q_proj(x).reshape(b, l, self.kv, self.group, self.width)
        k = self.k_proj(x).reshape(b, l, self.kv, self.width)
        v = self.v_proj(x).reshape(b, l, self.kv, self.width)
        s = torch.einsum("bqngd,bknd->bngqk", q, k) * self.width**-0.5
        if mask is None:
            a = s.softmax(-1)
        else:
            full = mask.expand(b, self.kv * self.group, l, l).reshape(s.shape)
            a = masked_softmax(s, full)
        y = torch.einsum("bngqk,bknd->bqngd", a, v)
        return self.o_proj(y.reshape(b, l, -1))
