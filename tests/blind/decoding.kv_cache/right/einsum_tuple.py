# einsum over heads, the cache is an immutable tuple of keys and values [B,S,H,D], mask from positions
class CachedSelfAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.d_head = d_model // n_heads
        for name in ("q_proj", "k_proj", "v_proj", "o_proj"):
            setattr(self, name, nn.Linear(d_model, d_model))

    def _heads(self, y):
        return y.unflatten(-1, (self.n_heads, self.d_head))

    def forward(self, x, cache=None):
        q, k, v = (self._heads(p(x)) for p in (self.q_proj, self.k_proj, self.v_proj))
        past = 0
        if cache is not None:
            past = cache[0].shape[1]
            k = torch.cat((cache[0], k), dim=1)
            v = torch.cat((cache[1], v), dim=1)
        scores = torch.einsum("bqhd,bkhd->bhqk", q, k) / math.sqrt(self.d_head)
        query_at = past + torch.arange(x.shape[1], device=x.device)
        key_at = torch.arange(k.shape[1], device=x.device)
        future = key_at[None, :] > query_at[:, None]
        weights = scores.masked_fill(future, float("-inf")).softmax(-1)
        mixed = torch.einsum("bhqk,bkhd->bqhd", weights, v).flatten(2)
        return self.o_proj(mixed), (k, v)
