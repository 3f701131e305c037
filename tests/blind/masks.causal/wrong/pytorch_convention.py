# True = hidden, as in nn.Transformer, instead of True = may attend
def causal_mask(length):
    mask = torch.ones(length, length, dtype=torch.bool)
    return torch.triu(mask, diagonal=1)
