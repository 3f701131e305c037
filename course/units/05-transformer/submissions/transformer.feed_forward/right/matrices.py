from torch import nn


class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.up, self.down = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)

    def forward(self, x):
        hidden = (x @ self.up.weight.T + self.up.bias).clamp(min=0)
        return hidden @ self.down.weight.T + self.down.bias
