from tfkit.nn import MultiHeadAttention
from torch import nn


class Wide(nn.Module):
    def __init__(self, outer, inner):
        super().__init__()
        self.up, self.down = nn.Linear(outer, inner), nn.Linear(inner, outer)

    def forward(self, x):
        return self.down(self.up(x).clamp(min=0))


class EncoderLayer(nn.Module):
    def __init__(self, d_model, n_heads, d_ff):
        super().__init__()
        self.self_attn, self.ff = MultiHeadAttention(d_model, n_heads), Wide(d_model, d_ff)
        self.norm1, self.norm2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)

    def forward(self, x, mask=None):
        seen, _ = self.self_attn(query=x, key=x, value=x, mask=mask)
        middle = self.norm1(seen + x)
        return self.norm2(self.ff(middle) + x)
