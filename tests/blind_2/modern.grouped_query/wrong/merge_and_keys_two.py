# heads merged by a plain reshape without transposing back + the values use the keys' projection
class GroupedQueryAttention(nn.Module):
    def __init__(self, d_model, n_heads, n_kv_heads):
        super().__init__()
        self.n_heads = n_heads
        self.n_kv_heads = n_kv_heads
        self.dim = d_model // n_heads
        self.q_proj = nn.Linear(d_model, d_model, bias=False)
        self.k_proj = nn.Linear(d_model, self.dim * n_kv_heads, bias=False)
        self.v_proj = nn.Linear(d_model, self.dim * n_kv_heads, bias=False)
        self.o_proj = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, mask=None):
        n = self.n_heads // self.n_kv_heads
        q = split_heads(self.q_proj(x), self.n_heads)
        k = split_heads(self.k_proj(x), self.n_kv_heads).repeat_interleave(n, 1)
        v = split_heads(self.k_proj(x), self.n_kv_heads).repeat_interleave(n, 1)
        y, w = scaled_dot_product_attention(q, k, v, mask)
        return self.o_proj(y.reshape(x.shape))
