# cuts the keys and values into heads with a view to [B,KV,L,D], without a transpose, which mixes positions and heads
class GroupedQueryAttention(nn.Module):
    def __init__(self, d_model, n_heads, n_kv_heads):
        super().__init__()
        self.n_heads = n_heads
        self.n_kv_heads = n_kv_heads
        self.head_dim = d_model // n_heads
        linear = lambda heads: nn.Linear(d_model, heads * self.head_dim, bias=False)
        self.q_proj = linear(n_heads)
        self.k_proj = linear(n_kv_heads)
        self.v_proj = linear(n_kv_heads)
        self.o_proj = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, mask=None):
        B, L, E = x.shape
        q = self.q_proj(x).reshape(B, L, self.n_heads, self.head_dim).permute(0, 2, 1, 3)
        k = self.k_proj(x).view(B, self.n_kv_heads, L, self.head_dim)
        v = self.v_proj(x).view(B, self.n_kv_heads, L, self.head_dim)
        groups = self.n_heads // self.n_kv_heads
        k = k.repeat_interleave(groups, dim=1)
        v = v.repeat_interleave(groups, dim=1)
        if mask is None:
            mask = torch.ones(1, 1, L, L, dtype=torch.bool, device=x.device)
        weights = masked_softmax(torch.einsum("bhqd,bhkd->bhqk", q, k) / self.head_dim ** 0.5, mask)
        y = torch.einsum("bhqk,bhkd->bqhd", weights, v).flatten(2)
        return self.o_proj(y)
