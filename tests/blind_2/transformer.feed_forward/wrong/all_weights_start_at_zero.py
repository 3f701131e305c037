# all weights start at zero: no gradient reaches up or down's weight, it cannot learn
class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff, activation=F.relu, dropout=0.0):
        super().__init__()
        self.up = nn.Linear(d_model, d_ff)
        self.down = nn.Linear(d_ff, d_model)
        # a clean start
        for p in self.parameters():
            nn.init.zeros_(p)
        self.activation = activation
        self.drop = nn.Dropout(dropout)

    def forward(self, x):
        x = self.up(x)
        x = self.drop(self.activation(x))
        return self.down(x)
