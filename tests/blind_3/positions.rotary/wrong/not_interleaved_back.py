# the rotated even and odd columns are concatenated instead of interleaved again
def apply_rotary(x, positions, base=10000.0):
    dim = x.size(-1)
    freq = torch.exp(-math.log(base) * torch.arange(0, dim, 2) / dim)
    ang = positions.unsqueeze(-1) * freq
    sin, cos = ang.sin(), ang.cos()
    x_even, x_odd = x[..., ::2], x[..., 1::2]
    y_even = x_even * cos - x_odd * sin
    y_odd = x_even * sin + x_odd * cos
    return torch.cat((y_even, y_odd), dim=-1)
