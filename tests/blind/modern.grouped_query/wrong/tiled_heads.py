# tiles the key-value heads (head h reads h % KV) instead of sharing among neighbours
class GroupedQueryAttention(nn.Module):
    def __init__(self, d_model, n_heads, n_kv_heads):
        super().__init__()
        self.h = n_heads
        self.kv = n_kv_heads
        self.d = d_model // n_heads
        self.q_proj = nn.Linear(d_model, d_model, bias=False)
        self.k_proj = nn.Linear(d_model, self.kv * self.d, bias=False)
        self.v_proj = nn.Linear(d_model, self.kv * self.d, bias=False)
        self.o_proj = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, mask=None):
        b, l, e = x.shape
        q = self.q_proj(x).view(b, l, self.h, self.d).transpose(1, 2)
        k = self.k_proj(x).view(b, l, self.kv, self.d).transpose(1, 2)
        v = self.v_proj(x).view(b, l, self.kv, self.d).transpose(1, 2)
        k = k.repeat(1, self.h // self.kv, 1, 1)
        v = v.repeat(1, self.h // self.kv, 1, 1)
        s = q @ k.transpose(-1, -2) / self.d ** 0.5
        if mask is not None:
            w = masked_softmax(s, mask)
        else:
            w = s.softmax(-1)
        return self.o_proj((w @ v).transpose(1, 2).reshape(b, l, e))
