# multiplies the two branches first and takes silu of the product
class SwiGLU(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.gate = nn.Linear(d_model, d_ff, bias=False)
        self.up = nn.Linear(d_model, d_ff, bias=False)
        self.down = nn.Linear(d_ff, d_model, bias=False)

    def forward(self, x):
        h = torch.mul(self.gate(x), self.up(x))
        return self.down(nn.functional.silu(h))
