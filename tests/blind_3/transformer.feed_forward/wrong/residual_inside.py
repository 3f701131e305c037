# adds the input back inside the network (the residual belongs to the layer round it)
class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff, activation=F.relu, dropout=0.0):
        super().__init__()
        self.up, self.down = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.activation = activation
        self.p = dropout

    def forward(self, x):
        y = F.dropout(self.activation(self.up(x)), self.p, self.training)
        return x + self.down(y)      # keep what you had, add what you found
