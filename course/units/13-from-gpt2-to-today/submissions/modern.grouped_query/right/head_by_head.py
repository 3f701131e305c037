import torch
from torch import nn

from tfkit.nn import scaled_dot_product_attention


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
        q, k, v = self.q_proj(x), self.k_proj(x), self.v_proj(x)
        width = q.shape[-1] // self.n_heads
        if mask is not None:
            mask = mask.expand(x.shape[0], self.n_heads, x.shape[1], x.shape[1])
        outputs = []
        for head in range(self.n_heads):
            mine = slice(head * width, (head + 1) * width)
            shared = head // (self.n_heads // self.n_kv_heads)
            theirs = slice(shared * width, (shared + 1) * width)
            own = None if mask is None else mask[:, head]
            outputs.append(scaled_dot_product_attention(q[..., mine], k[..., theirs], v[..., theirs], own)[0])
        return self.o_proj(torch.cat(outputs, dim=-1))
