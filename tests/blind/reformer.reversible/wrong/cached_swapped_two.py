# keeps f(x2) and g(y1) in the module to reuse them in the inverse + returns the halves as (x2, x1)
class ReversibleBlock(nn.Module):
    def __init__(self, f, g):
        super().__init__()
        self.f = f
        self.g = g
        self.f_out = None
        self.g_out = None

    def forward(self, x1, x2):
        self.f_out = self.f(x2)
        y1 = x1 + self.f_out
        self.g_out = self.g(y1)
        y2 = x2 + self.g_out
        return y1, y2

    def inverse(self, y1, y2):
        g_out = self.g_out if self.g_out is not None else self.g(y1)
        x2 = y2 - g_out
        f_out = self.f_out if self.f_out is not None else self.f(x2)
        x1 = y1 - f_out
        return x2, x1
