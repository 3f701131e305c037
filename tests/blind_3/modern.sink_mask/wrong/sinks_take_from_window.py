# the cache as a whole holds window tokens: the sinks are taken out of the window, i - j < window - sinks
def sink_mask(length, window, sinks):
    pos = torch.arange(length)
    dist = pos.unsqueeze(1) - pos.unsqueeze(0)
    recent = window - sinks     # the rest of the budget
    keep = (dist < recent) | (pos < sinks)
    return keep.logical_and(dist >= 0)
