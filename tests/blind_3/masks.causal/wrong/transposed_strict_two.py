# rows are keys and columns are queries (transposed) + a position does not see itself
def causal_mask(length):
    idx = torch.arange(length)
    query = idx[None, :]
    key = idx[:, None]
    return key < query
