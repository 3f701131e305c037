"""Your block adds into the tensors it was given, which overwrites the caller's own."""

from torch import nn


class ReversibleBlock(nn.Module):
    def __init__(self, f, g):
        super().__init__()
        self.f, self.g = f, g

    def forward(self, x1, x2):
        x1 += self.f(x2)
        x2 += self.g(x1)
        return x1, x2

    def inverse(self, y1, y2):
        x2 = y2 - self.g(y1)
        return y1 - self.f(x2), x2
