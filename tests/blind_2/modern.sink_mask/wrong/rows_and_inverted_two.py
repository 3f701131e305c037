# the first queries instead of the first keys are exempt + True means hidden
def sink_mask(length, window, sinks):
    pos = torch.arange(length)
    dist = pos.unsqueeze(1) - pos.unsqueeze(0)
    visible = (dist >= 0) & (dist < window)
    visible = visible | ((pos.unsqueeze(1) < sinks) & (dist >= 0))
    return ~visible
