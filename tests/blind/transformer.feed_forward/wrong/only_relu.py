# takes no notice of the argument activation: always ReLU
class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff, activation=F.relu, dropout=0.0):
        super().__init__()
        self.up = nn.Linear(d_model, d_ff)
        self.down = nn.Linear(d_ff, d_model)
        self.dropout = nn.Dropout(p=dropout)

    def forward(self, x):
        return self.down(self.dropout(torch.clamp(self.up(x), min=0)))
