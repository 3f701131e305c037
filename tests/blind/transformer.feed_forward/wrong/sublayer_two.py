# drops the output instead of the inner values + adds the residual, which belongs to the layer around it
class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff, activation=F.relu, dropout=0.0):
        super().__init__()
        self.up = nn.Linear(d_model, d_ff)
        self.down = nn.Linear(d_ff, d_model)
        self.activation = activation
        self.drop = nn.Dropout(dropout)

    def forward(self, x):
        residual = x
        x = self.activation(self.up(x))
        x = self.down(x)
        x = self.drop(x)
        return residual + x
