"""Your inverse takes f of y2. In the forward pass f read x2, and the inverse has just found it again."""

from torch import nn


class ReversibleBlock(nn.Module):
    def __init__(self, f, g):
        super().__init__()
        self.f, self.g = f, g

    def forward(self, x1, x2):
        y1 = x1 + self.f(x2)
        return y1, x2 + self.g(y1)

    def inverse(self, y1, y2):
        return y1 - self.f(y2), y2 - self.g(y1)
