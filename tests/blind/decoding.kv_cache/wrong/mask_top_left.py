# the triangle of the mask starts at the top left, as if there were no past: new positions see too little of it
class CachedSelfAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.h = n_heads
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.o_proj = nn.Linear(d_model, d_model)

    def forward(self, x, cache=None):
        B, T, E = x.shape
        q = self.q_proj(x).view(B, T, self.h, -1).transpose(1, 2)
        k = self.k_proj(x).view(B, T, self.h, -1).transpose(1, 2)
        v = self.v_proj(x).view(B, T, self.h, -1).transpose(1, 2)
        if cache is not None:
            pk, pv = cache
            k = torch.cat([pk, k], dim=2)
            v = torch.cat([pv, v], dim=2)
        out = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        out = out.transpose(1, 2).reshape(B, T, E)
        return self.o_proj(out), (k, v)
