# all weights and biases start at 0, so up and down get no gradient and the network cannot learn
class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff, activation=F.relu, dropout=0.0):
        super().__init__()
        self.activation = activation
        self.drop = nn.Dropout(dropout)
        self.up = nn.Linear(d_model, d_ff)
        self.down = nn.Linear(d_ff, d_model)
        # neutral start
        for param in self.parameters():
            nn.init.zeros_(param)

    def forward(self, x):
        x = self.up(x)
        x = self.activation(x)
        x = self.drop(x)
        return self.down(x)
