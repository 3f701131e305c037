from torch import nn

from tfkit.nn import merge_heads, scaled_dot_product_attention, split_heads


class GroupedQueryAttention(nn.Module):
    def __init__(self, d_model, n_heads, n_kv_heads):
        super().__init__()
        self.n_heads, self.n_kv_heads = n_heads, n_kv_heads
        width = d_model // n_heads
        self.q_proj = nn.Linear(d_model, d_model, bias=False)
        self.k_proj = nn.Linear(d_model, n_kv_heads * width, bias=False)
        self.v_proj = nn.Linear(d_model, n_kv_heads * width, bias=False)
        self.o_proj = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, mask=None):
        group = self.n_heads // self.n_kv_heads
        q = split_heads(self.q_proj(x), self.n_heads)
        k = split_heads(self.k_proj(x), self.n_kv_heads).repeat_interleave(group, dim=1)
        v = split_heads(self.v_proj(x), self.n_kv_heads).repeat_interleave(group, dim=1)
        output, _ = scaled_dot_product_attention(q, k, v, mask)
        return self.o_proj(merge_heads(output))
