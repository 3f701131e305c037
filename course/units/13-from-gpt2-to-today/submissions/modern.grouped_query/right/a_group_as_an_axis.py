from torch import nn

from tfkit.nn import masked_softmax, split_heads


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
        batch, length, _ = x.shape
        q = split_heads(self.q_proj(x), self.n_heads).unflatten(1, (self.n_kv_heads, -1))  # [B,KV,G,L,D]
        k = split_heads(self.k_proj(x), self.n_kv_heads).unsqueeze(2)
        v = split_heads(self.v_proj(x), self.n_kv_heads).unsqueeze(2)
        scores = (q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5).flatten(1, 2)
        weights = scores.softmax(-1) if mask is None else masked_softmax(scores, mask)
        output = (weights.unflatten(1, (self.n_kv_heads, -1)) @ v).flatten(1, 2)
        return self.o_proj(output.transpose(1, 2).reshape(batch, length, -1))
