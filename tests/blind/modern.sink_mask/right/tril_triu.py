# no comparison of positions: tril and triu cut the window, the sinks are columns set to True before the causal cut
def sink_mask(length, window, sinks):
    everything = torch.ones(length, length, dtype=torch.bool)
    near = everything.triu(1 - window)
    near[:, :sinks] = True
    return near.tril()
