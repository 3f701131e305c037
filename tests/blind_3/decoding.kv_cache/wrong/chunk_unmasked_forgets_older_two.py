# within a chunk the positions see later ones (no causal mask) + the new cache holds only the last chunk, the older past is lost
class CachedSelfAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.o_proj = nn.Linear(d_model, d_model)

    def forward(self, x, cache=None):
        q, k, v = [split_heads(p(x), self.n_heads) for p in (self.q_proj, self.k_proj, self.v_proj)]
        keys, values = k, v
        if cache is not None:
            keys = torch.cat([cache["k"], k], 2)
            values = torch.cat([cache["v"], v], 2)
        # the past is all visible, no mask needed
        w = (q @ keys.transpose(2, 3) / math.sqrt(q.shape[-1])).softmax(-1)
        return self.o_proj(merge_heads(w @ values)), dict(k=k, v=v)
