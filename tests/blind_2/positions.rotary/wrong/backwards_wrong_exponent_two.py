# rotates in the opposite direction + the exponent is i/d instead of 2i/d
def apply_rotary(x, positions, base=10000.0):
    dim = x.size(-1)
    inv = torch.exp(-math.log(base) * torch.arange(dim // 2) / dim)
    a = positions.unsqueeze(-1) * inv
    pairs = x.reshape(*x.shape[:-1], -1, 2)
    first, second = pairs.unbind(-1)
    new = torch.stack([first * a.cos() + second * a.sin(), second * a.cos() - first * a.sin()], dim=-1)
    return new.reshape(x.shape)
