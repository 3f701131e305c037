# writes the longer keys and values into the dict that was passed in, and returns that same dict
class CachedSelfAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        assert d_model % n_heads == 0
        self.n_heads = n_heads
        self.q_proj, self.k_proj = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)
        self.v_proj, self.o_proj = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)

    def forward(self, x, cache=None):
        def heads(y):
            return y.unflatten(2, (self.n_heads, -1)).transpose(1, 2)

        if cache is None:
            cache = {}
        for key, proj in (("k", self.k_proj), ("v", self.v_proj)):
            new = heads(proj(x))
            cache[key] = torch.cat((cache[key], new), dim=2) if key in cache else new
        n, total = x.size(1), cache["k"].size(2)
        i = torch.arange(total - n, total, device=x.device).unsqueeze(1)
        j = torch.arange(total, device=x.device).unsqueeze(0)
        out = F.scaled_dot_product_attention(heads(self.q_proj(x)), cache["k"], cache["v"], attn_mask=j <= i)
        return self.o_proj(out.transpose(1, 2).flatten(2)), cache
