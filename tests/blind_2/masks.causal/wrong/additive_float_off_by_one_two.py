# float mask of 0 and -inf instead of a boolean one + the next position is visible too
def causal_mask(length):
    m = torch.zeros(length, length)
    future = torch.triu(torch.ones(length, length), diagonal=2) == 1
    return m.masked_fill(future, float("-inf"))
