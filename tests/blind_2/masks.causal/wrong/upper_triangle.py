# rows and columns exchanged: a position sees itself and the FUTURE
def causal_mask(length):
    return torch.triu(torch.ones(length, length)).bool()
