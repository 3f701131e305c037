# the inverse undoes f first, with y2 in place of x2
class ReversibleBlock(nn.Module):
    def __init__(self, f, g):
        super(ReversibleBlock, self).__init__()
        self.f = f
        self.g = g

    def forward(self, x1, x2):
        x1 = x1 + self.f(x2)
        x2 = x2 + self.g(x1)
        return x1, x2

    def inverse(self, y1, y2):
        y1 = y1 - self.f(y2)
        y2 = y2 - self.g(y1)
        return y1, y2
