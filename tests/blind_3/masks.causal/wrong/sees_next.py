# off by one: position i may also look at i + 1
def causal_mask(length):
    pos = torch.arange(length)
    rows = pos.unsqueeze(1)
    cols = pos.unsqueeze(0)
    m = cols <= rows + 1
    return m
