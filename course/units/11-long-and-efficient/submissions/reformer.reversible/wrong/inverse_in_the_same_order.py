"""Your inverse undoes the first step first. What was done last has to be undone first."""

from torch import nn


class ReversibleBlock(nn.Module):
    def __init__(self, f, g):
        super().__init__()
        self.f, self.g = f, g

    def forward(self, x1, x2):
        y1 = x1 + self.f(x2)
        return y1, x2 + self.g(y1)

    def inverse(self, y1, y2):
        x1 = y1 - self.f(y2)
        return x1, y2 - self.g(x1)
