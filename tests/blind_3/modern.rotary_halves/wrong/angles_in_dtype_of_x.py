# the angles are computed in the dtype of x, in bfloat16 the positions are rounded
def apply_rotary_halves(x, positions, base=10000.0):
    d = x.size(-1)
    i = torch.arange(d // 2, device=x.device, dtype=x.dtype)
    theta = positions.to(x.dtype)[:, None] * base ** (-2 * i / d)
    a, b = x.chunk(2, dim=-1)
    c, s = torch.cos(theta), torch.sin(theta)
    return torch.cat([a * c - b * s, b * c + a * s], dim=-1)
