from torch import nn


class ReversibleBlock(nn.Module):
    def __init__(self, f, g):
        super().__init__()
        self.f, self.g = f, g

    def _run(self, state, order, sign):
        state = list(state)
        for half, layer in order:
            state[half] = state[half] + sign * layer(state[1 - half])
        return tuple(state)

    def forward(self, x1, x2):
        return self._run((x1, x2), [(0, self.f), (1, self.g)], 1)

    def inverse(self, y1, y2):
        return self._run((y1, y2), [(1, self.g), (0, self.f)], -1)
