# F.dropout without training=self.training: it also drops in eval()
class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff, activation=F.relu, dropout=0.0):
        super().__init__()
        self.up = nn.Linear(d_model, d_ff)
        self.down = nn.Linear(d_ff, d_model)
        self.activation = activation
        self.dropout = dropout

    def forward(self, x):
        return self.down(F.dropout(self.activation(self.up(x)), self.dropout))
