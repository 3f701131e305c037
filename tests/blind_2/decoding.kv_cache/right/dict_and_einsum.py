# style: a fresh dict as cache, einsum, the mask from absolute positions
class CachedSelfAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.heads = n_heads
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.o_proj = nn.Linear(d_model, d_model)

    def forward(self, x, cache=None):
        B, t, E = x.shape
        cut = (B, t, self.heads, E // self.heads)
        q = self.q_proj(x).view(cut)
        k = self.k_proj(x).view(cut)
        v = self.v_proj(x).view(cut)
        past = 0
        if cache is not None:
            past = cache["keys"].shape[1]
            k = torch.cat((cache["keys"], k), dim=1)
            v = torch.cat((cache["values"], v), dim=1)
        query_at = torch.arange(past, past + t, device=x.device)
        key_at = torch.arange(past + t, device=x.device)
        s = torch.einsum("bqhd,bkhd->bhqk", q, k) / math.sqrt(cut[-1])
        s = s.masked_fill(key_at[None, :] > query_at[:, None], -math.inf)
        out = torch.einsum("bhqk,bkhd->bqhd", s.softmax(-1), v).reshape(B, t, E)
        return self.o_proj(out), {"keys": k, "values": v}
