# appends to the list that was passed in and returns it, so the old cache is changed
class CachedSelfAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.h = n_heads
        self.d = d_model // n_heads
        for n in ["q_proj", "k_proj", "v_proj", "o_proj"]:
            self.add_module(n, nn.Linear(d_model, d_model))

    def forward(self, x, cache=None):
        if cache is None:
            cache = []
        # one entry for each chunk
        cache.append((self.k_proj(x), self.v_proj(x)))
        k = torch.cat([c[0] for c in cache], dim=1)
        v = torch.cat([c[1] for c in cache], dim=1)
        q = self.q_proj(x)
        t, total = x.shape[1], k.shape[1]
        see = torch.ones(t, total).tril(diagonal=total - t).bool()
        heads = []
        for i in range(self.h):
            sl = slice(i * self.d, (i + 1) * self.d)
            s = q[:, :, sl] @ k[:, :, sl].mT / self.d ** 0.5
            heads.append(s.masked_fill(~see, float("-inf")).softmax(-1) @ v[:, :, sl])
        return self.o_proj(torch.cat(heads, -1)), cache
