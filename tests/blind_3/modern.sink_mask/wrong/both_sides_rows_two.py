# the window looks into the future, too + the sinks are the first queries (rows) instead of the first keys
def sink_mask(length, window, sinks):
    rows = []
    for i in range(length):
        rows.append([abs(i - j) < window or (i < sinks) for j in range(length)])
    return torch.tensor(rows, dtype=torch.bool).reshape(length, length)
