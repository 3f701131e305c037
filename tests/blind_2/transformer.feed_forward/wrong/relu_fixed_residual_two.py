# the activation argument is ignored (always ReLU) + the input is added to the output (a residual inside)
class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff, activation=F.relu, dropout=0.0):
        super().__init__()
        self.up = nn.Linear(d_model, d_ff)
        self.act = nn.ReLU()
        self.drop = nn.Dropout(dropout)
        self.down = nn.Linear(d_ff, d_model)

    def forward(self, x):
        return x + self.down(self.drop(self.act(self.up(x))))
