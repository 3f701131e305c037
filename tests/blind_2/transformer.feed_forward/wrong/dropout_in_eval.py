# F.dropout without training=self.training: values are dropped in eval mode too
class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff, activation=F.relu, dropout=0.0):
        nn.Module.__init__(self)
        self.up, self.down = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.f, self.rate = activation, dropout

    def forward(self, x):
        h = self.up(x)
        h = self.f(h)
        h = F.dropout(h, p=self.rate)
        return self.down(h)
