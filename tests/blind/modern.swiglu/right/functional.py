# one product with the two matrices stacked, then split; silu written out
class SwiGLU(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        make = lambda n_in, n_out: nn.Linear(n_in, n_out, bias=False)
        self.gate, self.up, self.down = make(d_model, d_ff), make(d_model, d_ff), make(d_ff, d_model)

    def forward(self, x):
        both = x @ torch.cat([self.gate.weight, self.up.weight]).T
        z, content = both.chunk(2, dim=-1)
        return self.down(z * torch.sigmoid(z) * content)
