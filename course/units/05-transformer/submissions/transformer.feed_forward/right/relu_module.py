from torch import nn


class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.up = nn.Linear(d_model, d_ff)
        self.relu = nn.ReLU()
        self.down = nn.Linear(d_ff, d_model)

    def forward(self, x):
        hidden = self.up(x)
        hidden = self.relu(hidden)
        return self.down(hidden)
