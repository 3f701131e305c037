# adds the bool mask to the scores, so shown keys get 1 more and nothing is hidden
class GroupedQueryAttention(nn.Module):
    def __init__(self, d_model, n_heads, n_kv_heads):
        super().__init__()
        self.D = d_model // n_heads
        self.H, self.KV = n_heads, n_kv_heads
        self.q_proj = nn.Linear(d_model, self.H * self.D, bias=False)
        self.k_proj = nn.Linear(d_model, self.KV * self.D, bias=False)
        self.v_proj = nn.Linear(d_model, self.KV * self.D, bias=False)
        self.o_proj = nn.Linear(self.H * self.D, d_model, bias=False)

    def forward(self, x, mask=None):
        q, k, v = self.q_proj(x), self.k_proj(x), self.v_proj(x)
        heads = []
        for h in range(self.H):
            g = h // (self.H // self.KV)
            qh = q[..., h * self.D:(h + 1) * self.D]
            kh = k[..., g * self.D:(g + 1) * self.D]
            heads.append(qh @ kh.mT / self.D ** 0.5)
        scores = torch.stack(heads, dim=1)
        if mask is not None:
            scores = scores + mask
        weights = torch.softmax(scores, dim=-1)
        out = []
        for h in range(self.H):
            g = h // (self.H // self.KV)
            out.append(weights[:, h] @ v[..., g * self.D:(g + 1) * self.D])
        return self.o_proj(torch.cat(out, dim=-1))
