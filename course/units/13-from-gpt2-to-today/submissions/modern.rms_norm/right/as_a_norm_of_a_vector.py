def rms_norm(x, weight, eps=1e-6):
    wide = x.double()
    mean_square = (wide * wide).sum(dim=-1, keepdim=True) / x.shape[-1]
    return (weight.double() * wide / (mean_square + eps).sqrt()).to(x.dtype)
