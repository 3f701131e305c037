# query head h uses key-value head h % KV (repeat the block) instead of h // (H/KV)
class GroupedQueryAttention(nn.Module):
    def __init__(self, d_model, n_heads, n_kv_heads):
        super().__init__()
        self.n_heads, self.n_kv_heads = n_heads, n_kv_heads
        hd = d_model // n_heads
        self.q_proj = nn.Linear(d_model, d_model, bias=False)
        self.k_proj = nn.Linear(d_model, n_kv_heads * hd, bias=False)
        self.v_proj = nn.Linear(d_model, n_kv_heads * hd, bias=False)
        self.o_proj = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, mask=None):
        q = split_heads(self.q_proj(x), self.n_heads)
        k = split_heads(self.k_proj(x), self.n_kv_heads)
        v = split_heads(self.v_proj(x), self.n_kv_heads)
        rep = self.n_heads // self.n_kv_heads
        k = k.repeat(1, rep, 1, 1)
        v = v.repeat(1, rep, 1, 1)
        out, _ = scaled_dot_product_attention(q, k, v, mask)
        return self.o_proj(merge_heads(out))
