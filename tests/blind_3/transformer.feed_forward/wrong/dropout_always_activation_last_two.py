# dropout also when not training (F.dropout without self.training) + activation after down instead of between the layers
class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff, activation=F.relu, dropout=0.0):
        super().__init__()
        self.up = nn.Linear(d_model, d_ff)
        self.down = nn.Linear(d_ff, d_model)
        self.f = activation
        self.rate = dropout

    def forward(self, x):
        z = F.dropout(self.up(x), p=self.rate)
        z = self.down(z)
        return self.f(z)
