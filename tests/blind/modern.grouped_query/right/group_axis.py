# an axis of its own for the group, keys and values are never repeated
class GroupedQueryAttention(nn.Module):
    def __init__(self, d_model, n_heads, n_kv_heads):
        super().__init__()
        self.n_heads, self.n_kv_heads = n_heads, n_kv_heads
        self.width = d_model // n_heads
        self.q_proj = nn.Linear(d_model, n_heads * self.width, bias=False)
        self.k_proj = nn.Linear(d_model, n_kv_heads * self.width, bias=False)
        self.v_proj = nn.Linear(d_model, n_kv_heads * self.width, bias=False)
        self.o_proj = nn.Linear(n_heads * self.width, d_model, bias=False)

    def forward(self, x, mask=None):
        B, L, _ = x.shape
        kv, group = self.n_kv_heads, self.n_heads // self.n_kv_heads
        q = self.q_proj(x).view(B, L, kv, group, self.width)
        k = self.k_proj(x).view(B, L, kv, self.width)
        v = self.v_proj(x).view(B, L, kv, self.width)
        scores = torch.einsum("bqngd,bknd->bngqk", q, k) / self.width**0.5
        if mask is None:
            weights = scores.softmax(dim=-1)
        else:
            mask = mask.expand(B, self.n_heads, L, L).reshape(B, kv, group, L, L)
            dead = ~mask.any(dim=-1, keepdim=True)
            scores = scores.masked_fill(~mask, float("-inf")).masked_fill(dead, 0.0)
            weights = scores.softmax(dim=-1).masked_fill(dead, 0.0)
        out = torch.einsum("bngqk,bknd->bqngd", weights, v)
        return self.o_proj(out.reshape(B, L, -1))
