# the projections have biases + scales by sqrt(d_model) instead of the heads' width
class GroupedQueryAttention(nn.Module):
    def __init__(self, d_model, n_heads, n_kv_heads):
        super().__init__()
        hd = d_model // n_heads
        self.cfg = (n_heads, n_kv_heads, hd)
        self.q_proj = nn.Linear(d_model, n_heads * hd)
        self.k_proj = nn.Linear(d_model, n_kv_heads * hd)
        self.v_proj = nn.Linear(d_model, n_kv_heads * hd)
        self.o_proj = nn.Linear(n_heads * hd, d_model)

    def forward(self, x, mask=None):
        n, kv, hd = self.cfg
        B, L, E = x.shape
        q = self.q_proj(x).unflatten(-1, (n, hd)).transpose(1, 2)
        k = self.k_proj(x).unflatten(-1, (kv, hd)).transpose(1, 2).repeat_interleave(n // kv, 1)
        v = self.v_proj(x).unflatten(-1, (kv, hd)).transpose(1, 2).repeat_interleave(n // kv, 1)
        att = torch.matmul(q, k.transpose(2, 3)) * E ** -0.5
        if mask is not None:
            att = att.masked_fill(mask == 0, float("-inf"))
        att = torch.nan_to_num(F.softmax(att, dim=-1))
        y = torch.matmul(att, v).transpose(1, 2).contiguous().view(B, L, n * hd)
        return self.o_proj(y)
