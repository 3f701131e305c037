# style: the weight matrices cut into one small matrix per head, as in the paper, with einsum
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.H = n_heads
        self.D = d_model // n_heads
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.o_proj = nn.Linear(d_model, d_model)

    def heads_of(self, lin, x):
        w = lin.weight.view(self.H, self.D, -1)
        b = lin.bias.view(self.H, 1, self.D)
        return torch.einsum("ble,hde->bhld", x, w) + b

    def forward(self, query, key, value, mask=None):
        q = self.heads_of(self.q_proj, query)
        k = self.heads_of(self.k_proj, key)
        v = self.heads_of(self.v_proj, value)
        s = torch.einsum("bhqd,bhkd->bhqk", q, k) * self.D ** -0.5
        if mask is None:
            a = s.softmax(-1)
        else:
            a = masked_softmax(s, mask)
        w_o = self.o_proj.weight.view(-1, self.H, self.D)
        out = torch.einsum("bhqk,bhkd,ehd->bqe", a, v, w_o) + self.o_proj.bias
        return out, a
