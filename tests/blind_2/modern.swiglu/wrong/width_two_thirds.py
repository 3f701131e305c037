# makes the inner width 2/3 of d_ff itself, although d_ff is already the inner width
class SwiGLU(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        inner = int(2 * d_ff / 3)  # three matrices instead of two
        self.gate = nn.Linear(d_model, inner, bias=False)
        self.up = nn.Linear(d_model, inner, bias=False)
        self.down = nn.Linear(inner, d_model, bias=False)

    def forward(self, x):
        gated = F.silu(self.gate(x))
        return self.down(gated.mul(self.up(x)))
