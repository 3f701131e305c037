# keeps the inputs x and projects all of them to keys and values again in each call
class CachedSelfAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.o_proj = nn.Linear(d_model, d_model)

    def split(self, y):
        b, l, e = y.shape
        return y.reshape(b, l, self.n_heads, e // self.n_heads).permute(0, 2, 1, 3)

    def forward(self, x, cache=None):
        full = x if cache is None else torch.cat([cache, x], dim=1)
        new, total = x.shape[1], full.shape[1]
        q = self.split(self.q_proj(x))
        k = self.split(self.k_proj(full))
        v = self.split(self.v_proj(full))
        mask = torch.ones(new, total, dtype=torch.bool, device=x.device).tril(total - new)
        att = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
        att = att.masked_fill(~mask, -torch.inf).softmax(dim=-1)
        y = (att @ v).permute(0, 2, 1, 3).flatten(2)
        return self.o_proj(y), full
