# rows and columns exchanged: sees the future + zeros and ones in float instead of bool
def causal_mask(length):
    m = torch.zeros(length, length)
    for i in range(length):
        for j in range(i, length):
            m[i, j] = 1
    return m
