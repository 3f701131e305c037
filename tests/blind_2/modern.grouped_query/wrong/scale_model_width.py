# scores divided by sqrt(d_model) instead of sqrt of the head width
class GroupedQueryAttention(nn.Module):
    def __init__(self, d_model, n_heads, n_kv_heads):
        super().__init__()
        head = d_model // n_heads
        self.n_heads = n_heads
        self.n_kv = n_kv_heads
        self.q_proj = nn.Linear(d_model, d_model, bias=False)
        self.k_proj = nn.Linear(d_model, head * n_kv_heads, bias=False)
        self.v_proj = nn.Linear(d_model, head * n_kv_heads, bias=False)
        self.o_proj = nn.Linear(d_model, d_model, bias=False)
        self.scale = d_model**-0.5

    def forward(self, x, mask=None):
        queries = split_heads(self.q_proj(x), self.n_heads)
        keys = split_heads(self.k_proj(x), self.n_kv)
        values = split_heads(self.v_proj(x), self.n_kv)
        outs = []
        for h in range(self.n_heads):  # one head after the other
            g = h // (self.n_heads // self.n_kv)
            s = queries[:, h : h + 1] @ keys[:, g : g + 1].mT * self.scale
            if mask is not None:
                m = mask.expand(x.size(0), self.n_heads, x.size(1), x.size(1))[:, h : h + 1]
                w = masked_softmax(s, m)
            else:
                w = s.softmax(-1)
            outs.append(w @ values[:, g : g + 1])
        return self.o_proj(merge_heads(torch.cat(outs, 1)))
