# subtracts the mean first, as LayerNorm does
def rms_norm(x, weight, eps=1e-06):
    x32 = x.double()
    centered = x32 - x32.mean(-1, keepdim=True)
    rms = (centered.pow(2).mean(-1, keepdim=True) + eps).sqrt()
    return (centered / rms * weight).to(x.dtype)
