# True marks the hidden future positions instead of those that may be attended to
def causal_mask(length):
    # like in nn.Transformer: upper triangle is masked
    return torch.triu(torch.ones(length, length, dtype=torch.bool), diagonal=1)
