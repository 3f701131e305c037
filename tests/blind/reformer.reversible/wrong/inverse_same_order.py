# the inverse undoes f first, with y2 in place of x2, instead of last
class ReversibleBlock(nn.Module):
    def __init__(self, f, g):
        super().__init__()
        self.add_module("f", f)
        self.add_module("g", g)

    def forward(self, x1, x2):
        x1 = x1 + self.f(x2)
        x2 = x2 + self.g(x1)
        return x1, x2

    def inverse(self, y1, y2):
        y1_old = y1
        x1 = y1 - self.f(y2)
        x2 = y2 - self.g(y1_old)
        return x1, x2
