# style: matrix products written out, silu as z * sigmoid(z), layers made in a loop
class SwiGLU(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        sizes = {"gate": (d_model, d_ff), "up": (d_model, d_ff), "down": (d_ff, d_model)}
        for name, (n_in, n_out) in sizes.items():
            self.add_module(name, nn.Linear(n_in, n_out, bias=False))

    def forward(self, x):
        z = x @ self.gate.weight.T
        u = x @ self.up.weight.T
        hidden = z * torch.sigmoid(z) * u
        return hidden @ self.down.weight.T
