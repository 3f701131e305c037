# silu is applied to the up branch, the gate stays linear
class SwiGLU(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.gate, self.up = [nn.Linear(d_model, d_ff, bias=False) for _ in range(2)]
        self.down = nn.Linear(d_ff, d_model, bias=False)
        self.act = nn.SiLU()

    def forward(self, x):
        g = self.gate(x)
        u = self.act(self.up(x))
        return self.down(u * g)
