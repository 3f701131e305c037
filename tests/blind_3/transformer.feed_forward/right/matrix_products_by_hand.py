# matrix products written out with the layers' weights, dropout as an own module
class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff, activation=F.relu, dropout=0.0):
        super().__init__()
        self.up = nn.Linear(in_features=d_model, out_features=d_ff)
        self.down = nn.Linear(in_features=d_ff, out_features=d_model)
        self.act = activation
        self.drop = nn.Dropout(p=dropout)

    def forward(self, x):
        B, L, E = x.shape
        rows = x.reshape(B * L, E)
        wide = rows @ self.up.weight.T + self.up.bias
        wide = self.drop(self.act(wide))
        narrow = wide @ self.down.weight.T + self.down.bias
        return narrow.reshape(B, L, E)
