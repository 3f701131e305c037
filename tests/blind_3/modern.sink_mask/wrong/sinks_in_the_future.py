# the sinks are visible to queries before them as well, not causal
def sink_mask(length, window, sinks):
    m = torch.zeros(length, length, dtype=torch.bool)
    for i in range(length):
        m[i, max(0, i - window + 1):i + 1] = True
    m[:, :sinks] = True
    return m
