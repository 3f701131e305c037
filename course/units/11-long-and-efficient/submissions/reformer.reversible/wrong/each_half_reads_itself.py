"""Each of your halves is changed by a function of itself. To undo that you would need what you are looking for."""

from torch import nn


class ReversibleBlock(nn.Module):
    def __init__(self, f, g):
        super().__init__()
        self.f, self.g = f, g

    def forward(self, x1, x2):
        return x1 + self.f(x1), x2 + self.g(x2)

    def inverse(self, y1, y2):
        return y1 - self.f(y1), y2 - self.g(y2)
