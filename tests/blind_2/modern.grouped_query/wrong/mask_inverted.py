# mask convention inverted: hides the keys where mask is True
class GroupedQueryAttention(nn.Module):
    def __init__(self, d_model, n_heads, n_kv_heads):
        super().__init__()
        self.h = n_heads
        self.kvh = n_kv_heads
        self.d = d_model // n_heads
        self.q_proj = nn.Linear(d_model, self.h * self.d, bias=False)
        self.k_proj = nn.Linear(d_model, self.kvh * self.d, bias=False)
        self.v_proj = nn.Linear(d_model, self.kvh * self.d, bias=False)
        self.o_proj = nn.Linear(self.h * self.d, d_model, bias=False)

    def forward(self, x, mask=None):
        B, L, E = x.shape
        q = self.q_proj(x).view(B, L, self.h, self.d).transpose(1, 2)
        k = self.k_proj(x).view(B, L, self.kvh, self.d).transpose(1, 2)
        v = self.v_proj(x).view(B, L, self.kvh, self.d).transpose(1, 2)
        k = k.repeat_interleave(self.h // self.kvh, dim=1)
        v = v.repeat_interleave(self.h // self.kvh, dim=1)
        scores = q @ k.transpose(-2, -1) / (self.d ** 0.5)
        if mask is not None:
            scores = scores.masked_fill(mask, -1e9)
        att = F.softmax(scores, dim=-1)
        out = (att @ v).transpose(1, 2).reshape(B, L, E)
        return self.o_proj(out)
