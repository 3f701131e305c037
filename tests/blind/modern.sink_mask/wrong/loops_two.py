# one sink too many (j <= sinks) + a query does not see itself
def sink_mask(length, window, sinks):
    mask = torch.zeros((length, length), dtype=torch.bool)
    for i in range(length):
        for j in range(i):
            if i - j < window or j <= sinks:
                mask[i, j] = True
    return mask
