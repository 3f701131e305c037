# style: two triangles subtracted, then the first columns filled in, all with integers
def sink_mask(length, window, sinks):
    ones = torch.ones(length, length, dtype=torch.int)
    causal = torch.tril(ones)
    too_old = torch.tril(ones, diagonal=-window)  # i - j >= window
    band = causal - torch.minimum(causal, too_old)
    first = causal.clone()
    first[:, sinks:] = 0
    return (band + first) > 0
