# cache as a dict of keys and values, mask by comparing positions, einsum for the products
class CachedSelfAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.heads = n_heads
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.o_proj = nn.Linear(d_model, d_model)

    def forward(self, x, cache=None):
        b, t, e = x.shape
        d = e // self.heads
        q = self.q_proj(x).view(b, t, self.heads, d)
        k = self.k_proj(x).view(b, t, self.heads, d)
        v = self.v_proj(x).view(b, t, self.heads, d)
        past = 0
        if cache is not None:
            past = cache["k"].shape[1]
            k = torch.cat([cache["k"], k], dim=1)
            v = torch.cat([cache["v"], v], dim=1)
        where_q = torch.arange(past, past + t, device=x.device)
        where_k = torch.arange(past + t, device=x.device)
        future = where_k[None, :] > where_q[:, None]
        s = torch.einsum("bqhd,bkhd->bhqk", q, k) / math.sqrt(d)
        a = torch.softmax(s.masked_fill(future, -math.inf), dim=-1)
        o = torch.einsum("bhqk,bkhd->bqhd", a, v).reshape(b, t, e)
        return self.o_proj(o), {"k": k, "v": v}
