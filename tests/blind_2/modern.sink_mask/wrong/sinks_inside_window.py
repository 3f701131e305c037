# the sinks are taken off the window: together they make `window` keys
def sink_mask(length, window, sinks):
    rows = []
    recent = max(window - sinks, 0)
    for i in range(length):
        row = [j <= i and (i - j < recent or j < sinks) for j in range(length)]
        rows.append(row)
    return torch.tensor(rows, dtype=torch.bool)
