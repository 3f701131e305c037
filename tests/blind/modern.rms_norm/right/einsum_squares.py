# einsum for the sum of squares, everything in the wide dtype until the last cast
def rms_norm(x, weight, eps=1e-06):
    wide = torch.promote_types(x.dtype, torch.float32)
    z = x.to(wide)
    mean_square = torch.einsum("...e,...e->...", z, z) / z.shape[-1]
    factor = (mean_square + eps).rsqrt()
    return torch.einsum("...e,...,e->...e", z, factor, weight.to(wide)).to(x.dtype)
