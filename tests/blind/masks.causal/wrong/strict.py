# a position may not see itself (j < i instead of j <= i)
def causal_mask(length):
    pos = torch.arange(length)
    query = pos.unsqueeze(1)
    key = pos.unsqueeze(0)
    return key < query
