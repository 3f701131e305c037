# o_proj exists but is never applied + the weights are averaged over the heads
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.h = n_heads
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.o_proj = nn.Linear(d_model, d_model)

    def forward(self, query, key, value, mask=None):
        qs = torch.stack(self.q_proj(query).chunk(self.h, dim=-1), dim=1)
        ks = torch.stack(self.k_proj(key).chunk(self.h, dim=-1), dim=1)
        vs = torch.stack(self.v_proj(value).chunk(self.h, dim=-1), dim=1)
        out, w = scaled_dot_product_attention(qs, ks, vs, mask)
        out = torch.cat(list(out.unbind(1)), dim=-1)
        return out, w.mean(dim=1)
