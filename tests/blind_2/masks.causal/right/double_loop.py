# style: two loops that set the allowed cells one by one
def causal_mask(length):
    m = torch.zeros(length, length).bool()
    for i in range(length):
        for j in range(i + 1):
            m[i, j] = True
    return m
