# functional dropout that asks self.training, positions flattened to rows first
class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff, activation=F.relu, dropout=0.0):
        super().__init__()
        self.up, self.down = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.activation = activation
        self.p = dropout

    def forward(self, x):
        rows = x.reshape(-1, x.size(-1))                # every position is a row
        inner = self.activation(self.up(rows))
        inner = F.dropout(inner, p=self.p, training=self.training)
        return self.down(inner).reshape(x.shape)
