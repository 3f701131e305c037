# always ReLU, the argument activation is never used
class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff, activation=F.relu, dropout=0.0):
        super().__init__()
        self.up = nn.Linear(d_model, d_ff)
        self.down = nn.Linear(d_ff, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        # max(0, x W + b)
        inner = torch.clamp(self.up(x), min=0)
        return self.down(self.dropout(inner))
